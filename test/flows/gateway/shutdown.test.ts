import { connect } from "node:net";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

/** Holds every request with a key that the gateway does not know yet until it is released. */
async function holdModels(gateway: TestGateway): Promise<{ release(): Promise<void> }> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const transaction = gateway.database.transaction().execute(async (tx) => {
    await sql`lock table api_keys in access exclusive mode`.execute(tx);
    hold();
    await released;
  });
  await held;
  return {
    async release() {
      release();
      await transaction;
    },
  };
}

async function countWaitingRequests(gateway: TestGateway): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    gateway.database,
  );
  return Number(rows[0]?.count);
}

async function isRefusingConnections(port: number): Promise<boolean> {
  return await new Promise((settle) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      settle(false);
    });
    socket.on("error", () => settle(true));
  });
}

test("a stop lets running requests finish, takes no new ones, and then ends", async () => {
  const gateway = await startGateway();
  const { key } = await gateway.createCaller();
  const hold = await holdModels(gateway);
  const connection = connect(gateway.port, "127.0.0.1");
  let received = "";
  connection.on("data", (data) => {
    received += String(data);
  });
  connection.write(`GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  await waitUntil("the request waits in the database", async () => (await countWaitingRequests(gateway)) === 1);

  const closing = gateway[Symbol.asyncDispose]();
  await waitUntil("new connections are refused", () => isRefusingConnections(gateway.port));
  connection.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  await hold.release();
  await new Promise((closed) => connection.once("close", closed));
  await closing;

  const [finished = "", refused = ""] = received.split(/(?=HTTP\/1\.1 503)/);
  expect(finished).toMatch(/^HTTP\/1\.1 200 .*"sandbox-chat"/s);
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*"code":"shutting_down"/s);
  expect(refused).toMatch(/^retry-after: 1\r$/m);
  expect(refused).toMatch(/^x-request-id: req_/m);
});

test("a stop does not wait longer than it was told", async () => {
  const gateway = await startGateway({ settings: { shutdown_timeout_ms: 50 } });
  const { key } = await gateway.createCaller();
  const hold = await holdModels(gateway);
  const cut = fetch(`${gateway.baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } }).then(
    () => "answered",
    () => "cut",
  );
  await waitUntil("the request waits in the database", async () => (await countWaitingRequests(gateway)) === 1);
  const closing = gateway[Symbol.asyncDispose]();
  expect(await cut).toBe("cut");
  const line = await waitUntil("its log line", () => gateway.logs.find((entry) => entry.aborted === true));
  expect(line).toMatchObject({ msg: "request", route: "/v1/models" });
  await hold.release();
  await closing;
});
