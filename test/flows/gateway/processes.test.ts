import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAccount } from "../../../src/app/change-account.ts";
import { createAccount, createApiKey, updateAccount } from "../../../src/features/accounts/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createIdSource } from "../../../src/lib/ids.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import {
  createDataDirectory,
  findFreePort,
  type GatewayProcess,
  startGatewayProcess,
} from "../../harness/gateway-process.ts";
import { countConnections, listGatewayProcesses } from "../../harness/gateway-processes.ts";
import { furnishForPaidCalls, upstreamKey } from "../../harness/rollout/furnish-for-paid-calls.ts";
import { startPacedUpstream } from "../../harness/rollout/paced-upstream.ts";
import { startPaidCalls } from "../../harness/rollout/paid-calls.ts";
import { hashPasswordCheaply } from "../../harness/site/cheap-password.ts";
import { goodPassword } from "../../harness/site/site-visitor.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";
import { openWire, type WireConnection, writeRequest } from "../../harness/wire-connection.ts";

const callers = 8;

let stack: AsyncDisposableStack;
let database: TestDatabase;
let gateway: GatewayProcess;
let port: number;
let settingsFile: string;
let outboxLink: string;
let key: string;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  database = await createTestDatabase();
  stack.defer(() => database.close());
  const upstream = stack.use(await startPacedUpstream(15));
  const data = stack.use(createDataDirectory());
  key = await furnishForPaidCalls(database.url, upstream.url);
  port = Number(await findFreePort());
  settingsFile = join(data.path, "sluice.yaml");
  writeFileSync(settingsFile, "");
  outboxLink = join(data.path, "secrets/outbox-link");
  gateway = stack.use(
    await startGatewayProcess({
      environment: {
        ...{ DATABASE_URL: database.url, SLUICE_DATA_DIR: data.path, SLUICE_PORT: String(port) },
        ...{ SLUICE_PROCESSES: "2", SLUICE_CONFIG: settingsFile, ...upstreamKey },
      },
    }),
  );
});

afterAll(() => stack.disposeAsync());

const listProcesses = (): Promise<number[]> => listGatewayProcesses(gateway.processId);

/** Whether every process has connections: the supervisor or the system has spread them. */
async function isSpread(connectionsMin: number): Promise<boolean> {
  const counts = (await listProcesses()).map((processId) => countConnections(processId, port));
  return counts.length === 2 && counts.every((count) => count >= connectionsMin);
}

const ids = createIdSource({ clock: systemClock, randomBytes });

async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const address = { connectionString: database.url };
  const opened = createDatabase({ address, connectionsMax: 1, onConnectionError: () => {} });
  try {
    return await work(opened);
  } finally {
    await opened.destroy();
  }
}

function createLimitedCaller(requestsPerMinute: number): Promise<string> {
  return withDatabase(async (opened) => {
    const within = { database: opened, clock: systemClock, ids, randomBytes, hasModel: () => true };
    const { id: accountId } = await createAccount(within, { email: `${ids.next("key")}@example.com` });
    await updateAccount(within, accountId, { limits: { requestsPerMinute } });
    return (await createApiKey(within, { accountId, name: "limited" })).text;
  });
}

/** A user who can sign in, and has a key. */
function createPerson(): Promise<{ email: string; key: string }> {
  return withDatabase(async (opened) => {
    const within = { database: opened, clock: systemClock, ids, randomBytes, hasModel: () => true };
    const email = `${ids.next("key")}@example.com`;
    const person = { passwordHash: hashPasswordCheaply(goodPassword), isEmailVerified: true };
    const { id: accountId } = await openAccount(within, { email, person });
    return { email, key: (await createApiKey(within, { accountId, name: "program" })).text };
  });
}

async function openToBoth(connectionsMin = 3): Promise<WireConnection[]> {
  const wires: WireConnection[] = [];
  await waitUntil("connections to both processes", async () => {
    wires.push(await openWire(port));
    return await isSpread(connectionsMin);
  });
  return wires;
}

test("processes share one limit, to the last request", async () => {
  // Five reads per request; then one every twelve seconds.
  const limit = 5;
  const refillMs = 12_000;
  const authorization = `Bearer ${await createLimitedCaller(1)}`;
  const wires = await openToBoth();
  const startedAtMs = performance.now();
  const answers = await Promise.all(
    wires.map(async (wire) => {
      const seen = [];
      for (let round = 0; round < 5; round += 1) {
        wire.write(writeRequest("GET /v1/models HTTP/1.1", { headers: { authorization } }));
        const answer = await wire.read("GET");
        seen.push(answer);
        // A process with more connections than the other asks some to reconnect.
        if (answer.headers.connection === "close") break;
      }
      wire.hangUp();
      return seen;
    }),
  );
  const tookMs = performance.now() - startedAtMs;
  const passed = answers.flat().filter(({ status }) => status === 200);
  expect(passed.length).toBeGreaterThanOrEqual(limit);
  expect(passed.length).toBeLessThanOrEqual(limit + Math.floor(tookMs / refillMs));
  expect(answers.flat().filter(({ headers }) => "x-ratelimit-degraded" in headers)).toEqual([]);
});

const post = (path: string, body: object): Promise<Response> =>
  fetch(`http://localhost:${port}/console/api${path}`, {
    method: "POST",
    headers: { origin: `http://localhost:${port}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const readCookie = (response: Response): string => response.headers.get("set-cookie")?.split(";")[0] ?? "";

test("an undelivered mail can be read at every process", async () => {
  const secret = readFileSync(outboxLink, "utf8").trim().split("#")[1];
  const cookie = readCookie(await post("/outbox/open", { secret }));
  expect((await post("/sign-up", { email: "ada@example.com", password: goodPassword })).status).toBe(202);
  await waitUntil("the mail at every connection", async () => {
    const wires = await openToBoth();
    const headers = { host: `localhost:${port}`, cookie };
    for (const wire of wires) wire.write(writeRequest("GET /console/api/outbox HTTP/1.1", { headers }));
    const answers = await Promise.all(wires.map((wire) => wire.read("GET")));
    for (const wire of wires) wire.hangUp();
    return answers.every(({ body }) => body.includes("ada@example.com"));
  });
});

test("a call at either process reaches the pages that listen at both", async () => {
  const person = await createPerson();
  const cookie = readCookie(await post("/sign-in", { email: person.email, password: goodPassword }));
  const streams = await openToBoth();
  const headers = { host: `localhost:${port}`, cookie };
  for (const stream of streams) stream.write(writeRequest("GET /console/api/changes HTTP/1.1", { headers }));
  await Promise.all(streams.map((stream) => stream.begun()));
  const countHeard = (): number[] => streams.map((stream) => stream.rest().split('"requests"').length - 1);
  // Enough that both processes get some of them.
  const counts = (await listProcesses()).map((processId) => countConnections(processId, port));
  const callers = await openToBoth(Math.max(...counts) + 1);
  for (const caller of callers) {
    const before = countHeard();
    const authorization = `Bearer ${person.key}`;
    caller.write(writeRequest("GET /v1/models HTTP/1.1", { headers: { authorization } }));
    expect(await caller.read("GET")).toMatchObject({ status: 200 });
    await waitUntil("every page to hear of it", () =>
      countHeard().every((count, index) => count > (before[index] ?? 0)),
    );
  }
  for (const wire of [...streams, ...callers]) wire.hangUp();
});

test("a roll is invisible to callers and reloads the settings; with invalid ones the old processes go on", async () => {
  const before = await listProcesses();
  const calls = startPaidCalls({ address: { port }, key, callers });
  await waitUntil("both processes to be at work", () => isSpread(1));
  writeFileSync(settingsFile, "prot: 1\n");
  gateway.kill("SIGHUP");
  await waitUntil("the refusal", () => gateway.output().includes('"msg":"roll rejected'));
  expect(gateway.output()).toContain("Did you mean port?");
  // Only a starting process detects this mistake.
  writeFileSync(settingsFile, "currency: EUR\n");
  gateway.kill("SIGHUP");
  await waitUntil("the end of the attempt", () => gateway.output().includes("roll aborted"));
  expect(gateway.output()).toContain("The ledger is in USD, but the setting currency is EUR.");
  expect(await listProcesses()).toEqual(before);

  writeFileSync(settingsFile, "disabled_endpoints: [listPrices]\n");
  gateway.kill("SIGHUP");
  await waitUntil("the end of the roll", () => gateway.output().includes('"msg":"roll finished"'));
  await waitUntil("both processes to be at work again", () => isSpread(1));
  await calls.stop();
  expect(calls.errors).toEqual([]);
  expect(calls.count()).toBeGreaterThan(0);
  const after = await listProcesses();
  expect(after).toHaveLength(2);
  expect(after.filter((processId) => before.includes(processId))).toEqual([]);
  const headers = { authorization: `Bearer ${key}` };
  expect((await fetch(`http://localhost:${port}/v1/pricing/models`, { headers })).status).toBe(501);
});

test("a process that dies takes only its own connections with it, and is replaced", async () => {
  const [victim = 0, other = 0] = await listProcesses();
  const calls = startPaidCalls({ address: { port }, key, callers });
  await waitUntil("both processes to be at work", () => isSpread(1));
  process.kill(victim, "SIGKILL");
  await waitUntil("another in its place", async () => {
    const now = await listProcesses();
    return now.length === 2 && now.includes(other) && !now.includes(victim);
  });
  // Clients that lost their connection are on the other process, and some reconnect where there is more room.
  await waitUntil("both processes to be at work again", () => isSpread(1));
  const counted = calls.count();
  await waitUntil("more calls", () => calls.count() > counted + callers);
  await calls.stop();
  expect(gateway.output()).toContain('"signal":"SIGKILL","delay_ms":0,"msg":"process died');
  expect(calls.errors.length).toBeLessThanOrEqual(callers);
  for (const error of calls.errors) expect(error).toMatch(/ECONNRESET|socket hang up|aborted/);
});

test("after SIGTERM running requests finish, and no process is left", async () => {
  const processes = await listProcesses();
  expect(processes).toHaveLength(2);
  const ask = { model: "chat", stream: true, messages: [{ role: "user", content: "long" }] };
  const wires = await Promise.all(Array.from({ length: 4 }, () => openWire(port)));
  for (const wire of wires) {
    const headers = { authorization: `Bearer ${key}` };
    wire.write(writeRequest("POST /v1/chat/completions HTTP/1.1", { headers, body: JSON.stringify(ask) }));
  }
  await Promise.all(wires.map((wire) => wire.begun()));
  gateway.kill("SIGTERM");
  const answers = await Promise.all(wires.map((wire) => wire.read("POST")));
  for (const answer of answers) expect(answer.body).toContain("[DONE]");
  expect(await gateway.exited).toBe(0);
  expect(gateway.output().match(/"msg":"ready"/g)).toHaveLength(1);
  expect(gateway.output().match(/"msg":"stopped"/g)).toHaveLength(1);
  for (const processId of processes) expect(() => process.kill(processId, 0)).toThrow("ESRCH");
  await expect(fetch(`http://localhost:${port}/healthz`)).rejects.toThrow();
});
