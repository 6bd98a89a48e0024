import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { upstreamKeyName, writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { createDataDirectory, findFreePort } from "../../harness/gateway-process.ts";
import {
  type Behaviour,
  canary,
  type FakeUpstreams,
  startFakeUpstreams,
} from "../../harness/upstreams/fake-upstreams.ts";
import { createDelay, endlessSilence } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

type Fields = Record<string, unknown>;
type Answer = { status: number; headers: Headers; text: string; code: string | null; param: string | null };

const badKeyName = "FAKE_UPSTREAM_BAD_KEY";
const filedKeyName = "FAKE_UPSTREAM_FILED_KEY";
const shortTimeouts = { connect_ms: 5000, first_byte_ms: 5000, idle_ms: 5000, total_ms: 5000 };

/** Routes of the named model to upstream models `name-0`, `name-1`, …; each with the given fields. */
function createModel(id: string, ...routes: readonly Fields[]): Fields {
  return {
    id,
    routes: routes.map((route, at) => ({ provider: "open", upstream_model: nameUpstream(id, at), ...route })),
  };
}

function nameUpstream(id: string, at: number): string {
  return `${canary}-${id}-${at}`;
}

/** Faults before any data of an answer. `afterHead` is what a stream sent before, so that it was accepted. */
const earlyFaults: readonly (readonly [string, Behaviour])[] = [
  ["is too busy", { status: 429 }],
  ["fails", { status: 500 }],
  ["is overloaded", { status: 529 }],
  ["is a broken proxy", { status: 502, contentType: "text/html", body: `<b>${canary}</b>` }],
  ["refuses our key", { status: 401 }],
  ["is out of credit", { status: 402, error: { code: "insufficient_quota" } }],
  ["does not know the model", { status: 404, error: { code: "model_not_found" } }],
  ["resets the connection", { isReset: true }],
  ["ends the connection before the head", { cut: "before-head" }],
  ["ends the connection after the head", { cut: "after-head" }],
  ["answers with invalid JSON", { rawChunks: ["data: {\n\n", "data: [DONE]\n\n"] }],
  ["answers with an error event", { rawChunks: [`data: {"error":{"message":"${canary}"}}\n\n`] }],
  ["answers with an empty body", { rawChunks: [] }],
  ["redirects", { redirectTo: `http://127.0.0.1/${canary}` }],
  ["has an oversized head", { hugeHeaderBytes: 200_000 }],
];

/** Upstream errors, and the error that the caller receives. */
const refusals: readonly (readonly [string, Behaviour, number, string, string | null])[] = [
  ["400", { status: 400 }, 400, "invalid_parameter", null],
  ["400 for a field", { status: 400, error: { param: "temperature" } }, 400, "invalid_parameter", "temperature"],
  ["400 for a field of ours", { status: 400, error: { param: "model" } }, 400, "invalid_parameter", null],
  ["422", { status: 422 }, 400, "invalid_parameter", null],
  ["400 for content", { status: 400, error: { code: "content_filter" } }, 400, "content_policy_violation", null],
  [
    "400 for length",
    { status: 400, error: { code: "context_length_exceeded" } },
    400,
    "context_length_exceeded",
    "messages",
  ],
  ["401", { status: 401 }, 503, "upstream_unavailable", null],
  ["402", { status: 402 }, 503, "upstream_unavailable", null],
  ["403", { status: 403 }, 503, "upstream_unavailable", null],
  ["404", { status: 404, error: { code: "model_not_found" } }, 503, "upstream_unavailable", null],
  ["408", { status: 408 }, 503, "upstream_timeout", null],
  ["429", { status: 429 }, 503, "upstream_unavailable", null],
  ["500", { status: 500 }, 503, "upstream_unavailable", null],
  ["503", { status: 503 }, 503, "upstream_unavailable", null],
  ["529", { status: 529 }, 503, "upstream_unavailable", null],
  ["418", { status: 418 }, 503, "upstream_unavailable", null],
  ["half an answer", { isMalformed: true }, 503, "upstream_unavailable", null],
  ["no answer", { cut: "before-head" }, 503, "upstream_unavailable", null],
];
const vendors = ["open", "anthropic", "google", "packaged"];
/**
 * Only OpenAI returns these. The other vendors have no fields for codes and parameters: their messages are parsed
 * elsewhere.
 */
const openAiOnly = ["418", "422"];

const never = endlessSilence;
const slowness: readonly (readonly [string, Fields, Behaviour])[] = [
  ["the head", { first_byte_ms: 150 }, { beforeHead: never }],
  ["the first data", { first_byte_ms: 150 }, { afterHead: never }],
  ["the whole answer", { total_ms: 200 }, { beforeHead: never }],
];

/** A refused key is refused for all models, so such a route has its own provider and key. */
function isOfKey({ status }: Behaviour): boolean {
  return status === 401 || status === 402;
}

function listLoneProviders(upstream: FakeUpstreams): Fields[] {
  const api_keys = [`\${${upstreamKeyName}}`];
  const byVendor: Record<string, Fields> = {
    open: { kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys },
    anthropic: { kind: "anthropic", base_url: upstream.anthropicUrl, api_keys },
    google: { kind: "google", base_url: upstream.geminiUrl, api_keys },
    packaged: { kind: "ai-sdk", package: "@ai-sdk/openai-compatible", base_url: upstream.openAiUrl, api_keys },
  };
  const early = earlyFaults.flatMap(([, behaviour], at) =>
    isOfKey(behaviour) ? [{ id: `lone-early-${at}`, ...byVendor.open }] : [],
  );
  const refused = Object.entries(byVendor).flatMap(([vendor, fields]) =>
    refusals.flatMap(([, behaviour], at) => (isOfKey(behaviour) ? [{ id: `lone-${vendor}-${at}`, ...fields }] : [])),
  );
  return [...early, ...refused];
}

function listModels(): Fields[] {
  const pair = [{ priority: 0 }, { priority: 1 }];
  return [
    ...earlyFaults.map(([, behaviour], at) =>
      createModel(`early-${at}`, isOfKey(behaviour) ? { provider: `lone-early-${at}` } : {}, { priority: 1 }),
    ),
    ...vendors.flatMap((provider) =>
      refusals.map(([, behaviour], at) =>
        createModel(`${provider}-${at}`, { provider: isOfKey(behaviour) ? `lone-${provider}-${at}` : provider }),
      ),
    ),
    ...refusals.map((_refusal, at) => createModel(`pair-${at}`, ...pair)),
    ...slowness.flatMap(([, timeouts], at) => [
      createModel(`slow-${at}`, { timeouts: { ...shortTimeouts, ...timeouts } }),
      createModel(`slow-pair-${at}`, { timeouts: { ...shortTimeouts, ...timeouts } }, { priority: 1 }),
    ]),
    createModel("slow-provider", { provider: "hasty" }),
    createModel("slow-exception", { provider: "hasty", timeouts: { first_byte_ms: 60_000 } }),
    createModel("idle", { timeouts: { ...shortTimeouts, idle_ms: 150 } }),
    createModel("endless", { timeouts: { ...shortTimeouts, total_ms: 300 } }),
    createModel("deaf", { provider: "deaf", timeouts: { connect_ms: 150 } }),
    createModel("deaf-pair", { provider: "deaf", timeouts: { connect_ms: 150 } }, { priority: 1 }),
    createModel("refused-pair", { provider: "refused" }, { priority: 1 }),
    createModel("five", {}, {}, {}, {}, {}),
    createModel("ordered", { priority: 2 }, { priority: 0 }, { priority: 1, provider: "second" }),
    createModel("heads", {}, {}, { provider: "second" }),
    createModel("accepted", { priority: 0 }, { priority: 1 }),
    createModel("broken", { priority: 0 }, { priority: 1 }),
    createModel("equal", {}, {}),
    createModel("uneven", { weight: 1 }, { weight: 1000 }),
    createModel("keyed", { provider: "keyed" }),
    createModel("filed", { provider: "filed" }),
    createModel("mixed", { provider: "anthropic" }, { priority: 1 }),
    createModel("bare"),
  ];
}

let chat: ChatGateway;
let caller: ChatCaller;
let deafServer: Server;
beforeAll(async () => {
  process.env[badKeyName] = "sk-bad";
  // Accepts connections, but never starts the TLS handshake.
  deafServer = createServer().listen(0, "127.0.0.1");
  await once(deafServer, "listening");
  const refusedPort = await findFreePort();
  chat = await openChatGateway({
    catalog: (upstream) =>
      writeCatalogOf(upstream, {
        models: listModels(),
        providers: [
          ...listLoneProviders(upstream),
          defineOpen(upstream, "keyed", { api_keys: [`\${${badKeyName}}`, `\${${upstreamKeyName}}`] }),
          defineOpen(upstream, "filed", { api_keys: [`\${${filedKeyName}}`] }),
          defineOpen(upstream, "second", {}),
          defineOpen(upstream, "hasty", { timeouts: { first_byte_ms: 150 } }),
          defineOpen(upstream, "deaf", { base_url: `https://127.0.0.1:${(deafServer.address() as AddressInfo).port}` }),
          defineOpen(upstream, "refused", { base_url: `http://127.0.0.1:${refusedPort}` }),
        ],
      }),
  });
  caller = await chat.createCaller({ cash: "1000" });
});
afterAll(async () => {
  await chat[Symbol.asyncDispose]();
  deafServer.close();
});

function defineOpen(upstream: FakeUpstreams, id: string, fields: Fields): Fields {
  return {
    id,
    kind: "openai-compatible",
    base_url: upstream.openAiUrl,
    api_keys: [`\${${upstreamKeyName}}`],
    ...fields,
  };
}

/** Sends a call and reads its answer whole. */
async function send(model: string, { by = caller, ...fields }: Fields & { by?: ChatCaller } = {}): Promise<Answer> {
  const response = await by.post({ model, messages: [{ role: "user", content: "Hello" }], ...fields });
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const last = isStream ? (listData(text).at(-1) ?? "") : text;
  const { error } = last.startsWith("{") ? (JSON.parse(last) as { error?: { code: string; param: string } }) : {};
  return {
    status: response.status,
    headers: response.headers,
    text,
    code: error?.code ?? null,
    param: error?.param ?? null,
  };
}

function listData(text: string): string[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => data);
}

/** How often each route of a model was called. */
function countCalls(id: string, routes: number): number[] {
  const names = Array.from({ length: routes }, (_, at) => nameUpstream(id, at));
  return names.map((name) => chat.upstream.requests.filter(({ model }) => model === name).length);
}

function fault(id: string, behaviour: Behaviour, at = 0): void {
  chat.upstream.alwaysFor({ model: nameUpstream(id, at) }, behaviour);
}

/** A separate caller, so that its ledger contains one call only. */
const createPayer = () => chat.createCaller({ cash: "100" });

describe("an upstream that fails before any data is replaced by the next", () => {
  test.each(earlyFaults.map(([name, behaviour], at) => [name, `early-${at}`, behaviour] as const))(
    "if it %s",
    async (_name, id, behaviour) => {
      fault(id, behaviour);
      for (const [round, stream] of [true, false].entries()) {
        const by = await createPayer();
        const answer = await send(id, { by, stream });
        expect([answer.status, answer.code], answer.text).toEqual([200, null]);
        expect(answer.text.match(/"role":"assistant"/g)).toHaveLength(1);
        if (stream) expect(listData(answer.text).at(-1)).toBe("[DONE]");
        expect(countCalls(id, 2)[1]).toBe(round + 1);
        expect(await by.listCharges()).toHaveLength(1);
      }
      // A refused key's circuit opens at once; everything else is retried.
      expect(countCalls(id, 2)[0]).toBeGreaterThanOrEqual(1);
    },
  );

  test("if the connection is refused", async () => {
    expect(await send("refused-pair")).toMatchObject({ status: 200, code: null });
    expect(countCalls("refused-pair", 2)).toEqual([0, 1]);
  });

  test("if the server stays silent after the connection opened", async () => {
    expect(await send("deaf-pair")).toMatchObject({ status: 200, code: null });
  });

  test.each(slowness.map(([name, , behaviour], at) => [name, at, behaviour] as const))(
    "if it takes too long for %s",
    async (_name, at, behaviour) => {
      fault(`slow-pair-${at}`, behaviour);
      expect(await send(`slow-pair-${at}`, { stream: true })).toMatchObject({ status: 200, code: null });
      expect(countCalls(`slow-pair-${at}`, 2)).toEqual([1, 1]);
    },
  );

  test("by another vendor", async () => {
    fault("mixed", { status: 500 });
    expect(await send("mixed")).toMatchObject({ status: 200 });
    expect(await send("mixed", { stream: true })).toMatchObject({ status: 200, code: null });
    expect(countCalls("mixed", 2)).toEqual([2, 2]);
  });

  test("with one head and one answer, even if it had accepted already", async () => {
    const gate = chat.upstream.gate();
    fault("accepted", { cut: "after-head" });
    fault("accepted", { beforeHead: gate, text: "the second" }, 1);
    const response = await caller.post({
      model: "accepted",
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    });
    // The head arrives before the second upstream sends anything.
    expect(response.status).toBe(200);
    await gate.reached();
    gate.open();
    const events = listData(await response.text());
    expect(events.filter((data) => data.includes('"role":"assistant"'))).toHaveLength(1);
    const deltas = events.slice(0, -1).map((data) => JSON.parse(data).choices[0].delta.content ?? "");
    expect([deltas.join(""), events.at(-1)]).toEqual(["the second", "[DONE]"]);
  });
});

describe("attempts", () => {
  test("number at most two per provider, each at another target", async () => {
    const by = await createPayer();
    chat.upstream.alwaysFor(({ model }) => model?.startsWith(`${canary}-five-`) === true, { status: 500 });
    const answer = await send("five", { by });
    expect(answer).toMatchObject({ status: 503, code: "upstream_unavailable", param: null });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(countCalls("five", 5).toSorted()).toEqual([0, 0, 0, 1, 1]);
    expect(await by.listCharges()).toEqual([]);
    expect((await by.listHolds()).map(({ state }) => state)).toEqual(["released"]);
  });

  test("follow the priorities", async () => {
    fault("ordered", { status: 500 }, 1);
    fault("ordered", { status: 500 }, 2);
    expect(await send("ordered")).toMatchObject({ status: 200 });
    const names = chat.upstream.requests.map(({ model }) => model).filter((name) => name?.includes("-ordered-"));
    expect(names).toEqual([1, 2, 0].map((at) => nameUpstream("ordered", at)));
  });

  test("that all fail after the head leave an error as the only data, and cost nothing", async () => {
    const by = await createPayer();
    chat.upstream.alwaysFor(({ model }) => model?.startsWith(`${canary}-heads-`) === true, { cut: "after-head" });
    const answer = await send("heads", { by, stream: true });
    expect([answer.status, answer.code]).toEqual([200, "upstream_unavailable"]);
    expect(listData(answer.text)).toHaveLength(1);
    expect(countCalls("heads", 3)).toEqual([1, 1, 1]);
    expect(await by.listCharges()).toEqual([]);
    expect((await by.listHolds()).map(({ state }) => state)).toEqual(["released"]);
  });

  test("are zero for a model without routes", async () => {
    const answer = await send("bare");
    expect(answer).toMatchObject({ status: 503, code: "model_unavailable", param: "model" });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });
});

describe("no other upstream is tried", () => {
  const blameless = refusals.flatMap(([name, behaviour, status], at) =>
    status === 400 ? [[name, at, behaviour] as const] : [],
  );

  test.each(blameless)("if the request is at fault: %s", async (_name, at, behaviour) => {
    fault(`pair-${at}`, behaviour);
    expect(await send(`pair-${at}`)).toMatchObject({ status: 400 });
    expect(await send(`pair-${at}`, { stream: true })).toMatchObject({ status: 400 });
    expect(countCalls(`pair-${at}`, 2)).toEqual([2, 0]);
  });

  test("once the first data has arrived", async () => {
    const by = await createPayer();
    fault("broken", { pieces: ["Hel", "lo"], cut: { afterPieces: 1 } });
    const answer = await send("broken", { by, stream: true });
    expect([answer.status, answer.code]).toEqual([200, "upstream_unavailable"]);
    expect(answer.text).toContain("Hel");
    expect(answer.text).not.toContain("[DONE]");
    expect(countCalls("broken", 2)).toEqual([1, 0]);
    expect(await by.listCharges()).toHaveLength(1);
  });
});

describe.each(vendors)("errors of %s are mapped to our API's errors", (vendor) => {
  const cases = refusals
    .map((refusal, at) => [refusal[0], `${vendor}-${at}`, refusal] as const)
    .filter(([name, , [, { error }]]) => vendor === "open" || (error === undefined && !openAiOnly.includes(name)));
  const isMissed = (name: string): boolean => vendor === "packaged" && ["401", "403", "408"].includes(name);

  async function check(id: string, [, behaviour, status, code, param]: (typeof refusals)[number]): Promise<void> {
    const by = await createPayer();
    fault(id, behaviour);
    const answer = await send(id, { by });
    expect([answer.status, answer.code, answer.param], answer.text).toEqual([status, code, param]);
    expect(answer.headers.has("retry-after")).toBe(status === 503);
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    expect(await by.listCharges()).toEqual([]);
    expect((await by.listHolds()).map(({ state }) => state)).toEqual(["released"]);
  }

  test.each(cases.filter(([name]) => !isMissed(name)))("%s", (_name, id, refusal) => check(id, refusal));
  test.each(cases.filter(([name]) => isMissed(name)))("%s", (_name, id, refusal) => check(id, refusal));
});

describe("a route times out", () => {
  test.each(slowness.map(([name, , behaviour], at) => [name, at, behaviour] as const))(
    "while waiting for %s",
    async (_name, at, behaviour) => {
      fault(`slow-${at}`, behaviour);
      const whole = await send(`slow-${at}`);
      expect([whole.status, whole.code, whole.headers.has("retry-after")]).toEqual([503, "upstream_timeout", true]);
      expect(await send(`slow-${at}`, { stream: true })).toMatchObject({ code: "upstream_timeout" });
      await chat.upstream.idle();
    },
  );

  test("while connecting", async () => {
    expect(await send("deaf")).toMatchObject({ status: 503, code: "upstream_timeout" });
  });

  test("between two pieces, and the delivered part is charged", async () => {
    const by = await createPayer();
    fault("idle", { pieces: ["Hel", "lo"], beforeEnd: never });
    const answer = await send("idle", { by, stream: true });
    expect([answer.status, answer.code]).toEqual([200, "upstream_timeout"]);
    expect(answer.text).toContain("Hel");
    expect(await by.listCharges()).toHaveLength(1);
  });

  test("although data keeps arriving", async () => {
    fault("endless", { pieces: ["x"], isEndless: true, beforePiece: createDelay(20) });
    expect(await send("endless", { stream: true })).toMatchObject({ status: 200, code: "upstream_timeout" });
  });

  test("after its provider's time, unless the route sets its own", async () => {
    const gate = chat.upstream.gate();
    fault("slow-provider", { beforeHead: gate });
    fault("slow-exception", { beforeHead: gate });
    const patient = send("slow-exception");
    expect(await send("slow-provider")).toMatchObject({ status: 503, code: "upstream_timeout" });
    gate.open();
    expect(await patient).toMatchObject({ status: 200 });
  });
});

describe("conversations are distributed", () => {
  /** A new conversation: calls of one conversation go to the same target. */
  const open = (model: string) => send(model, { user: randomUUID() });

  test("evenly among equal routes", async () => {
    for (let call = 0; call < 40; call += 1) await open("equal");
    // One of them gets fewer once in ten billion runs.
    for (const count of countCalls("equal", 2)) expect(count).toBeGreaterThanOrEqual(1);
  });

  test("by weight", async () => {
    for (let call = 0; call < 40; call += 1) await open("uneven");
    expect(countCalls("uneven", 2)[0]).toBeLessThanOrEqual(5);
  });

  test("among a provider's keys, and a refused key is skipped", async () => {
    const countBad = (): number => chat.upstream.requests.filter(({ apiKey }) => apiKey === "sk-bad").length;
    chat.upstream.alwaysFor({ apiKey: "sk-bad" }, { status: 401 });
    // Sooner or later the bad key is drawn first.
    for (let call = 0; call < 50 && countBad() === 0; call += 1)
      expect(await open("keyed")).toMatchObject({ status: 200 });
    expect(countBad()).toBe(1);
    for (let call = 0; call < 12; call += 1) expect(await open("keyed")).toMatchObject({ status: 200 });
    expect(countBad()).toBe(1);
  });
});

test("a key from a file is reloaded soon after the file changes, and stays while the file is missing", async () => {
  using folder = createDataDirectory();
  const path = join(folder.path, "key");
  process.env[`${filedKeyName}_FILE`] = path;
  const callWithKey = async (): Promise<string | null> => {
    expect(await send("filed")).toMatchObject({ status: 200 });
    return chat.upstream.requests.findLast(({ model }) => model === nameUpstream("filed", 0))?.apiKey ?? null;
  };
  writeFileSync(path, "sk-first\n");
  await waitUntil("the route is in service", async () => (await send("filed")).status === 200);
  expect(await callWithKey()).toBe("sk-first");
  writeFileSync(path, "sk-second");
  await waitUntil("the second key is in use", async () => (await callWithKey()) === "sk-second");
  rmSync(path);
  expect(await callWithKey()).toBe("sk-second");
  delete process.env[`${filedKeyName}_FILE`];
});

test("a new catalog applies to new calls: running calls finish on the old one", async () => {
  await using own = await openChatGateway();
  await using other = await startFakeUpstreams();
  const by = await own.createCaller();
  const gate = own.upstream.gate();
  own.upstream.script({ text: "from the old one", beforePiece: gate });
  other.always({ text: "from the new one" });
  const messages = [{ role: "user", content: "Hello" }];
  const running = await by.post({ model: "open", messages, stream: true });
  await gate.reached();
  await own.applyCatalog(
    writeCatalogOf(other, {
      models: [{ id: "open", routes: [{ provider: "open", upstream_model: `${canary}-new` }] }],
    }),
  );
  expect(await (await by.post({ model: "open", messages })).text()).toContain("from the new one");
  expect(other.requests.map(({ model }) => model)).toEqual([`${canary}-new`]);
  gate.open();
  const text = await running.text();
  const deltas = listData(text)
    .slice(0, -1)
    .map((data) => JSON.parse(data).choices[0].delta.content ?? "");
  expect([deltas.join(""), listData(text).at(-1)]).toEqual(["from the old one", "[DONE]"]);
  await by.settled();
  expect(await by.listCharges()).toHaveLength(2);
});
