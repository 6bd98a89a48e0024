import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { createDataDirectory } from "../../harness/gateway-process.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

type Fields = Record<string, unknown>;

/** Variables that no test environment has, unless a test sets one. */
const names = { key: "SLUICE_TEST_STORED_KEY", header: "SLUICE_TEST_STORED_HEADER", spare: "SLUICE_TEST_SPARE_KEY" };
const secretKey = "k".repeat(40);
const otherKey = "o".repeat(40);
/** Every value that a test stores. None has the shape of a vendor's key, so that only our own knowledge hides it. */
const values: string[] = [];
const printed: string[] = [];

function invent(word: string): string {
  const value = `quiet-${word}-words-${values.length}`;
  values.push(value);
  return value;
}

function writeCatalog(upstream: FakeUpstreams): string {
  const openAi = { kind: "openai-compatible", base_url: upstream.openAiUrl };
  const routeTo = (provider: string): Fields => ({ provider, upstream_model: `${canary}-${provider}` });
  return writeCatalogOf(upstream, {
    providers: [
      { id: "keyed", ...openAi, api_keys: [`\${${names.key}}`] },
      { id: "headed", ...openAi, headers: { authorization: `\${${names.header}}` } },
    ],
    models: [
      { id: "keyed", routes: [routeTo("keyed")] },
      { id: "headed", routes: [routeTo("headed")] },
    ],
  });
}

let database: TestDatabase;
let chat: ChatGateway;
let second: TestGateway;
let stranger: TestGateway;
let caller: ChatCaller;
beforeAll(async () => {
  database = await createTestDatabase();
  const shared = { sharedDatabase: database, settings: { secret_key: secretKey } };
  chat = await openChatGateway({ ...shared, catalog: writeCatalog });
  second = await startGateway(shared);
  stranger = await startGateway({ sharedDatabase: database, settings: { secret_key: otherKey } });
  caller = await chat.createCaller();
});
afterAll(async () => {
  await stranger[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  await chat[Symbol.asyncDispose]();
  await database.close();
});

async function operate(words: readonly string[], { input = "", key = secretKey } = {}) {
  const environment = { DATABASE_URL: database.url, SLUICE_SECRET_KEY: key };
  const outcome = await runCommandHere(words, { environment, input });
  printed.push(outcome.stdout, outcome.stderr);
  return outcome;
}

async function operateJson(...words: string[]) {
  const { stdout, exitCode } = await operate([...words, "--json"]);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

async function store(name: string, value: string): Promise<void> {
  expect(await operate(["secret", "set", name], { input: `${value}\n` })).toMatchObject({ exitCode: 0 });
}

async function call(gateway: TestGateway, model: string, fields: Fields = {}): Promise<Response> {
  return await chat.fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], ...fields }),
  });
}

/** The key of the last call that reached the upstream; `null` if this one did not. */
async function findSentKey(gateway: TestGateway, model: string): Promise<string | null> {
  const before = chat.upstream.requests.length;
  await (await call(gateway, model)).text();
  return chat.upstream.requests.length === before ? null : (chat.upstream.requests.at(-1)?.apiKey ?? null);
}

async function untilSent(value: string | null, model = "keyed"): Promise<void> {
  for (const gateway of [chat.gateway, second]) {
    await waitUntil("the gateway to use it", async () => (await findSentKey(gateway, model)) === value);
  }
}

test("a stored secret puts its routes into service on every node, without a restart", async () => {
  expect((await call(chat.gateway, "keyed")).status).toBe(503);
  const first = invent("first");
  await store(names.key, first);
  await untilSent(first);
  const header = invent("header");
  await store(names.header, `Bearer ${header}`);
  await untilSent(header, "headed");
});

test("the next version replaces it; a call under way ends with the old one", async () => {
  const gate = createGate();
  chat.upstream.scriptFor({ model: `${canary}-keyed` }, { pieces: ["Hel", "lo"], beforeEnd: gate });
  const running = await call(chat.gateway, "keyed", { stream: true });
  await gate.reached();
  const next = invent("second");
  await store(names.key, next);
  await untilSent(next);
  gate.open();
  expect(await running.text()).toContain("[DONE]");
});

test("circuits that the old key opened close with the new one", async () => {
  const bad = invent("bad");
  await store(names.key, bad);
  chat.upstream.alwaysFor(
    { model: `${canary}-keyed`, apiKey: bad },
    { status: 401, error: { code: "invalid_api_key", message: `Incorrect API key provided: ${bad}.` } },
  );
  await waitUntil("the key to be refused", async () => {
    await (await call(chat.gateway, "keyed")).text();
    return chat.gateway.logs.some(({ failure }) => failure === "key-refused");
  });
  expect((await call(chat.gateway, "keyed")).status).toBe(503);
  expect(await operate(["secret", "rollback", names.key])).toMatchObject({ exitCode: 0 });
  await waitUntil("the route to be back", async () => (await call(chat.gateway, "keyed")).status === 200);
});

test("a rollback to a named version, and one that is impossible", async () => {
  const [first = ""] = values;
  expect(await operateJson("secret", "rollback", names.key, "--version", "1")).toMatchObject({ version: 1 });
  await untilSent(first);
  const older = await operate(["secret", "rollback", names.key]);
  expect(older).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Other versions: 3, 2.") });
  const missing = await operate(["secret", "rollback", names.key, "--version", "9"]);
  expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("has no version 9") });
  const unknown = await operate(["secret", "rollback", "NEVER_STORED"]);
  expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no stored secret NEVER_STORED") });
});

test("the list has versions, source, last use and providers, and no value", async () => {
  const find = async (name: string) =>
    (await operateJson("secret", "list")).find((one: { name: string }) => one.name === name);
  await waitUntil("the last use to be written", async () => (await find(names.key)).versions[2].last_used_at !== null);
  expect(await find(names.key)).toMatchObject({
    ...{ source: "database", in_environment: false, providers: ["keyed"] },
    versions: [
      { version: 3, state: "retired" },
      { version: 2, state: "retired" },
      { version: 1, state: "in_use", created_by: expect.any(String), retired_at: null },
    ],
  });
  expect(await find("FAKE_UPSTREAM_KEY")).toMatchObject({ source: "environment", versions: [] });
  const { stdout } = await operate(["secret", "list"]);
  expect(stdout).toMatch(new RegExp(`${names.key} +database +1 +in use .* keyed`));
  expect(stdout).toMatch(/FAKE_UPSTREAM_KEY +environment +- +in use/);
});

test("a stored secret wins over the variable, which is back when it is removed", async () => {
  const [first = ""] = values;
  expect(await operate(["secret", "remove", names.key])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("The catalog names SLUICE_TEST_STORED_KEY, for keyed"),
  });
  process.env[names.key] = invent("variable");
  try {
    await untilSent(first);
    expect((await operate(["secret", "list"])).stdout).toMatch(new RegExp(`${names.key} +environment +- +ignored`));
    expect(await operate(["secret", "remove", names.key])).toMatchObject({ exitCode: 0 });
    await untilSent(process.env[names.key] ?? "");
    await store(names.key, first);
    await untilSent(first);
  } finally {
    delete process.env[names.key];
  }
});

test("a node with another secret key does not call without the secret, and operators see why", async () => {
  const before = chat.upstream.requests.length;
  expect((await call(stranger, "keyed")).status).toBe(503);
  expect(chat.upstream.requests.length).toBe(before);
  const list = async () => (await operate(["upstream", "list"])).stdout;
  await waitUntil("its report", async () => (await list()).includes(`unreadable-secret ${names.key}`));
  const doctor = await operate(["doctor", "--json"], { key: otherKey });
  expect(doctor.stdout).toContain("is sealed with another secret key");
  const refused = await operate(["secret", "set", names.spare], { key: otherKey, input: invent("stray") });
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Another secret key sealed") });
  const forced = ["secret", "set", names.spare, "--new-secret-key"];
  expect(await operate(forced, { key: otherKey, input: invent("forced") })).toMatchObject({ exitCode: 0 });
  expect((await operate(["secret", "list"])).stdout).toMatch(new RegExp(`${names.spare} +database +1 +unreadable`));
  expect(await operate(["secret", "remove", names.spare])).toMatchObject({ exitCode: 0 });
});

test("catalog check and doctor know stored secrets", async () => {
  using folder = createDataDirectory();
  const path = join(folder.path, "catalog.yaml");
  writeFileSync(path, writeCatalog(chat.upstream));
  expect(await operate(["catalog", "check", path])).toMatchObject({ exitCode: 0 });
  expect((await operate(["doctor"])).stdout).toContain("every route of the catalog is usable");
  writeFileSync(path, writeCatalog(chat.upstream).replaceAll(names.key, names.spare));
  const { stdout } = await operate(["catalog", "check", path]);
  expect(stdout).toContain(`The secret ${names.spare} is not set. Store it: npm run -s sluice -- secret set`);
});

test.each([
  ["an empty value", names.spare, "\n", "The secret is empty."],
  ["two lines", names.spare, "one\ntwo\n", "cannot be sent in a header"],
  ["a value of another script", names.spare, "ключ", "cannot be sent in a header"],
  ["a long value", names.spare, "x".repeat(4097), "cannot be sent in a header"],
  ["a name that no catalog can have", "9-lives", "value", "is not a valid name"],
])("%s is refused", async (_what, name, input, message) => {
  expect(await operate(["secret", "set", name], { input })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(message),
  });
});

test("a file works too, and ten versions are kept", async () => {
  using folder = createDataDirectory();
  const path = join(folder.path, "key");
  for (let version = 1; version <= 12; version += 1) {
    writeFileSync(path, `${invent("filed")}\r\n`);
    expect(await operateJson("secret", "set", names.spare, "--file", path)).toMatchObject({ version });
  }
  const [spare] = (await operateJson("secret", "list")).filter(({ name }: { name: string }) => name === names.spare);
  expect(spare.versions.map(({ version }: { version: number }) => version)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  const missing = await operate(["secret", "set", names.spare, "--file", join(folder.path, "absent")]);
  expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Cannot read the file") });
});

test("no value was logged, printed or stored readably", async () => {
  const rows = await chat.gateway.database.selectFrom("secrets").selectAll().execute();
  const health = await chat.gateway.database.selectFrom("upstream_health").selectAll().execute();
  const actions = await chat.gateway.database.selectFrom("operator_actions").selectAll().execute();
  const sealed = rows.map(({ sealed_value }) => sealed_value.toString("latin1"));
  const logs = [chat.gateway, second, stranger].flatMap((gateway) => gateway.logs);
  const seen = JSON.stringify([logs, printed, sealed, health, actions]);
  expect(seen).toContain("key-refused");
  for (const value of values) expect(seen).not.toContain(value);
});
