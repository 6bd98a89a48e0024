import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { recordedRefusals } from "../../../src/providers/failures/fixtures/vendor-refusals.ts";
import { writePrice } from "../../harness/chat/chat-catalog.ts";
import { findFreePort } from "../../harness/gateway-process.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { createSelfSignedCertificate } from "../../harness/servers/self-signed-certificate.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { type FakeUpstreams, startFakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";

type Fields = Record<string, unknown>;
type Finding = { check: string; ok: boolean; message: string; remedy: string | null };

const keys = { SLUICE_TEST_GOOD_KEY: "plain-good-words", SLUICE_TEST_BAD_KEY: "plain-bad-words" };
const good = { api_keys: ["${SLUICE_TEST_GOOD_KEY}"] };

let database: TestDatabase;
let gateway: TestGateway;
let fakes: FakeUpstreams;
let open: FakeUpstreams;
const closing: { close(): unknown }[] = [];
beforeAll(async () => {
  Object.assign(process.env, keys);
  database = await createTestDatabase();
  gateway = await startGateway({ sharedDatabase: database });
  fakes = await startFakeUpstreams({ keys: [keys.SLUICE_TEST_GOOD_KEY] });
  open = await startFakeUpstreams({ keys: "none-needed" });
});
afterAll(async () => {
  for (const name of Object.keys(keys)) delete process.env[name];
  for (const one of closing) one.close();
  await open[Symbol.asyncDispose]();
  await fakes[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await database.close();
});

/** Applies a catalog with this provider as `vendor`, and tests it. */
async function examine(provider: Fields, ...options: string[]) {
  const routes = (name: string) => [{ provider: "vendor", upstream_model: name }];
  const chat = { type: "chat", capabilities: ["chat"], limits: { max_output_tokens: 100 } };
  const vectors = { type: "embedding", capabilities: ["text_embedding"], limits: { context_window: 100 } };
  const image = { type: "image", capabilities: ["text_to_image"], limits: { sizes: ["64x64"] } };
  const isMedia = provider.kind === "fal";
  const served = [
    ...(isMedia ? [] : [{ id: "talk", name: "Talk", ...chat, routes: routes("vendor-talk") }]),
    ...(isMedia || provider.kind === "anthropic"
      ? []
      : [{ id: "vectors", name: "Vectors", ...vectors, routes: routes("vendor-vectors") }]),
    ...(isMedia ? [{ id: "image", name: "Image", ...image, routes: routes("vendor/image") }] : []),
  ];
  const perCall = { billing_type: "per_call", unit: "call", price: "0.10" };
  const source = stringify({
    currency: "USD",
    providers: [{ id: "vendor", ...provider }],
    models: served,
    prices: served.map(({ id }) => (id === "talk" ? writePrice(id) : { model: id, ...perCall })),
  });
  expect(await gateway.applyCatalog(source)).toMatchObject({ kind: "accepted" });
  const environment = { DATABASE_URL: database.url };
  const words = ["upstream", "test", "vendor", "--timeout", "5", ...options];
  const { exitCode, stdout, stderr } = await runCommandHere([...words, "--json"], { environment });
  for (const key of Object.values(keys)) expect(stdout + stderr).not.toContain(key);
  expect(stderr).toBe("");
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Finding[] };
  expect(exitCode).toBe(ok ? 0 : 1);
  return { ok, checks, last: checks.at(-1), names: checks.map(({ check }) => check) };
}

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closing.push(server);
  return (server.address() as AddressInfo).port;
}

async function serve(answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(answer))}/v1`;
}

const openAi = (baseUrl: string, more: Fields = good): Fields => ({
  ...{ kind: "openai-compatible", base_url: baseUrl, ...more },
});

test.each([
  ["openai-compatible", () => fakes.openAiUrl],
  ["anthropic", () => fakes.anthropicUrl],
  ["google", () => fakes.geminiUrl],
])("the list of models shows whether %s accepts the key, without a call", async (kind, findUrl) => {
  const provider = { kind, base_url: findUrl() };
  const works = await examine({ ...provider, ...good });
  expect(works).toMatchObject({ ok: true, names: ["connection", "http", "key"] });
  const bad = await examine({ ...provider, api_keys: ["${SLUICE_TEST_BAD_KEY}"] });
  expect(bad.last).toMatchObject({
    ...{ check: "key", ok: false, message: expect.stringContaining("The vendor refuses this key") },
    remedy: "Store a valid one: npm run -s sluice -- secret set SLUICE_TEST_BAD_KEY",
  });
  expect(fakes.requests.filter(({ method }) => method === "POST")).toEqual([]);
});

test("each key is tested", async () => {
  const { checks } = await examine(
    openAi(fakes.openAiUrl, { api_keys: Object.keys(keys).map((name) => `\${${name}}`) }),
  );
  expect(checks.filter(({ check }) => check === "key")).toMatchObject([
    { ok: true, message: expect.stringContaining("SLUICE_TEST_GOOD_KEY: The vendor accepts it.") },
    { ok: false, message: expect.stringContaining("with SLUICE_TEST_BAD_KEY") },
  ]);
});

test("--model calls the model, by the catalog's name, the vendor's, or one that the catalog does not have", async () => {
  for (const [name, sent] of [
    ["talk", "vendor-talk"],
    ["vendor-talk", "vendor-talk"],
    ["another", "another"],
  ] as const) {
    const { ok, last } = await examine(openAi(fakes.openAiUrl), "--model", name);
    expect(ok).toBe(true);
    expect(last).toMatchObject({ check: "model", message: `${sent} answers.` });
    expect(fakes.requests.at(-1)).toMatchObject({ model: sent, apiKey: keys.SLUICE_TEST_GOOD_KEY });
  }
  const vectors = await examine(openAi(fakes.openAiUrl), "--model", "vectors");
  expect(vectors.last).toMatchObject({ check: "model", ok: true, message: "vendor-vectors answers." });
});

test("a list that needs no key proves nothing: a model is called", async () => {
  expect(await examine(openAi(open.openAiUrl))).toMatchObject({ ok: true, names: ["connection", "http", "model"] });
  const without = await examine(openAi(open.openAiUrl, {}));
  expect(without.last).toMatchObject({ check: "key", message: "The provider is called without a key." });
});

test("a package has no list: a model is called", async () => {
  const provider = { kind: "ai-sdk", package: "@ai-sdk/openai-compatible", base_url: fakes.openAiUrl };
  expect(await examine({ ...provider, ...good })).toMatchObject({ ok: true, names: ["connection", "model"] });
  const bad = await examine({ ...provider, api_keys: ["${SLUICE_TEST_BAD_KEY}"] });
  expect(bad.last).toMatchObject({ check: "key", ok: false });
});

test("of media, only the key is checked", async () => {
  const provider = { kind: "fal", base_url: fakes.falUrl, ...good };
  expect(await examine(provider)).toMatchObject({ ok: true, names: ["connection", "http", "key"] });
  const named = await examine(provider, "--model", "image");
  expect(named.last).toMatchObject({ check: "model", ok: true, message: expect.stringContaining("was not called") });
  expect(fakes.media.calls.filter(({ method }) => method === "POST")).toEqual([]);
});

/** The plain words for each failure that a vendor's own error body means. */
const meanings = {
  "key-refused": ["key", "refuses this key"],
  "out-of-credit": ["balance", "no balance"],
  "quota-exceeded": ["quota", "quota at the vendor is used up"],
  "rate-limited": ["quota", "rate limit is reached"],
  "model-unavailable": ["model", "does not have the model vendor-talk"],
  misconfigured: ["address", "this address or your region"],
  overloaded: ["upstream", "has a fault, or is too busy"],
} as const;

test.each(Object.entries(meanings))("%s is said in plain words", async (kind, [check, words]) => {
  const refusals = recordedRefusals.filter(({ status, ...one }) => one.kind === kind && status >= 400).slice(0, 3);
  expect(refusals.length).toBeGreaterThan(0);
  for (const { status, body, headers } of refusals) {
    const url = await serve((request, response) => {
      if (request.method === "GET") response.writeHead(404).end();
      else {
        request.resume();
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(typeof body === "string" ? body : JSON.stringify(body));
      }
    });
    const { last } = await examine(openAi(url));
    expect(last, JSON.stringify(body)).toMatchObject({ check, ok: false, message: expect.stringContaining(words) });
    expect(last?.remedy).toMatch(/\S/);
  }
});

test("a missing secret is named before anything is sent", async () => {
  const { last } = await examine(openAi(fakes.openAiUrl, { api_keys: ["${SLUICE_TEST_NO_KEY}"] }));
  expect(last).toMatchObject({ check: "setup", ok: false, message: "The secret SLUICE_TEST_NO_KEY is not set." });
});

test("a host that does not exist, a closed port, a self-signed certificate and a silent server", async () => {
  const unknown = await examine(openAi("https://vendor.invalid/v1"));
  expect(unknown.last).toMatchObject({ check: "dns", ok: false, remedy: expect.stringContaining("name servers") });
  const closed = await examine(openAi(`http://127.0.0.1:${await findFreePort()}/v1`));
  expect(closed.last).toMatchObject({
    check: "connection",
    ok: false,
    remedy: expect.stringContaining("Nothing listens"),
  });
  const secure = createSecureServer(createSelfSignedCertificate("localhost"), (_request, response) => response.end());
  const distrusted = await examine(openAi(`https://localhost:${await listen(secure)}/v1`));
  expect(distrusted.last).toMatchObject({ check: "tls", ok: false, remedy: expect.stringContaining("self-signed") });
  const silent = `http://127.0.0.1:${await listen(createTcpServer(() => {}))}/v1`;
  const late = await examine(openAi(silent), "--timeout", "1");
  expect(late.last).toMatchObject({ check: "network", ok: false, message: expect.stringContaining("in time") });
});

test("a page in place of an API", async () => {
  const url = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/html" }).end("<html>Welcome</html>");
  });
  expect((await examine(openAi(url), "--model", "talk")).last).toMatchObject({ check: "address", ok: false });
});

test("people read a line for each check, and an unknown provider is named", async () => {
  const environment = { DATABASE_URL: database.url };
  await examine(openAi(fakes.openAiUrl));
  const { stdout } = await runCommandHere(["upstream", "test", "vendor"], { environment });
  expect(stdout).toMatch(/✓ connection .*\n✓ http .*status 200\n✓ key .*accepts it\.\n\nvendor works\./);
  const { stderr } = await runCommandHere(["upstream", "test", "vendro"], { environment });
  expect(stderr).toContain("Did you mean vendor?");
});

test("no account is charged", async () => {
  const holds = await gateway.database.selectFrom("holds").selectAll().execute();
  const charges = await gateway.database.selectFrom("charges").selectAll().execute();
  expect([holds, charges]).toEqual([[], []]);
});
