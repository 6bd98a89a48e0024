import { connect } from "node:net";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { createDatabase } from "../../../src/platform/database/database.ts";
import { createDataDirectory, findFreePort, startGatewayProcess } from "../../harness/gateway-process.ts";
import { createPaidCaller } from "../../harness/rollout/paid-caller.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";
import { openWire, writeRequest } from "../../harness/wire-connection.ts";

/** Blocks every request with an uncached key until it is released. */
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

/** So long that a test which had to wait for it would fail. */
const hourMs = 3_600_000;

test("a stop lets running requests finish, closes all connections, and then ends the gateway", async () => {
  const gateway = await startGateway({ settings: { shutdown_timeout_ms: hourMs } });
  const { key } = await gateway.createCaller();
  const hold = await holdModels(gateway);
  const [idle, unused, busy] = await Promise.all([
    openWire(gateway.port),
    openWire(gateway.port),
    openWire(gateway.port),
  ]);
  idle.write(writeRequest("GET /healthz HTTP/1.1"));
  expect((await idle.read("GET")).headers).toMatchObject({ connection: "keep-alive" });
  busy.write(writeRequest("GET /v1/models HTTP/1.1", { headers: { authorization: `Bearer ${key}` } }));
  await waitUntil("the request waits in the database", async () => (await countWaitingRequests(gateway)) === 1);

  const closing = gateway[Symbol.asyncDispose]();
  await waitUntil("new connections are refused", () => isRefusingConnections(gateway.port));
  await Promise.all([idle.closed(), unused.closed()]);
  await hold.release();
  const finished = await busy.read("GET");
  await busy.closed();
  await closing;
  expect(finished).toMatchObject({ status: 200, headers: { connection: "close" } });
  expect(finished.body).toContain('"sandbox-chat"');
  expect(idle.rest() + unused.rest() + busy.rest()).toBe("");
});

test("after SIGTERM a node fails its readiness probe, serves on for the delay and claims nothing; a second signal ends it", async () => {
  const place = await createTestDatabase();
  using data = createDataDirectory();
  const database = createDatabase({
    address: { connectionString: place.url },
    connectionsMax: 1,
    onConnectionError: () => {},
  });
  const port = Number(await findFreePort());
  await using gateway = await startGatewayProcess({
    environment: {
      DATABASE_URL: place.url,
      SLUICE_DATA_DIR: data.path,
      SLUICE_PORT: String(port),
      SLUICE_SHUTDOWN_DELAY_MS: "600000",
    },
  });
  // If the test fails, nothing waits for the delay.
  using _end = { [Symbol.dispose]: () => gateway.kill("SIGKILL") };
  const siteUrl = `http://localhost:${port}`;
  const authorization = `Bearer ${await createPaidCaller(database)}`;
  const open = await openWire(port);
  open.write(writeRequest("GET /readyz HTTP/1.1"));
  expect(await open.read("GET")).toMatchObject({ status: 200, headers: { connection: "keep-alive" } });

  gateway.kill("SIGTERM");
  const told = await waitUntil("it to be told", async () => {
    const answer = await fetch(`${siteUrl}/readyz`);
    const text = await answer.text();
    return answer.status === 503 && { text, headers: answer.headers };
  });
  expect(told.text).toContain('"code":"shutting_down"');
  expect(told.headers.get("retry-after")).toBe("1");

  // Also on an existing connection, and whichever code writes the head.
  const question = (stream: boolean): string =>
    JSON.stringify({ model: "sandbox-chat", stream, messages: [{ role: "user", content: "Hello" }] });
  open.write(writeRequest("POST /v1/chat/completions HTTP/1.1", { headers: { authorization }, body: question(false) }));
  expect(await open.read("POST")).toMatchObject({ status: 200, headers: { connection: "close" } });
  await open.closed();
  const asks: [path: string, body: string][] = [
    ["/v1/chat/completions", question(true)],
    ["/v1/audio/speech", JSON.stringify({ model: "sandbox-speech", input: "Hello", voice: "alloy" })],
    ["/v1/images/generations", JSON.stringify({ model: "sandbox-image", prompt: "A boat" })],
  ];
  for (const [path, body] of asks) {
    const connection = await openWire(port);
    connection.write(writeRequest(`POST ${path} HTTP/1.1`, { headers: { authorization }, body }));
    const answer = await connection.read("POST");
    expect([path, answer.status]).toEqual([path, path.includes("images") ? 202 : 200]);
    expect([path, answer.headers.connection]).toEqual([path, "close"]);
    await connection.closed();
  }

  let exitCode: number | null | undefined;
  void gateway.exited.then((code) => {
    exitCode = code;
  });
  await waitUntil("a second signal to end it", () => {
    gateway.kill("SIGINT");
    return exitCode === 1;
  });
  const leases = await database.selectFrom("task_leases").select("fencing_token").execute();
  expect(leases).toEqual([{ fencing_token: 0 }]);
  await database.destroy();
  await place.close();
});

test("a stop does not exceed its time limit", async () => {
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
