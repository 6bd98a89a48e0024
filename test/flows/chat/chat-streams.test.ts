import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { revokeApiKey } from "../../../src/features/accounts/index.ts";
import { countTokens } from "../../../src/lib/token-meter.ts";
import { wideLimits, widePrice, writeCatalogOf, writePrice } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { priceOf, writeQuestion } from "../../harness/chat/hear-chat.ts";
import { readRawStream } from "../../harness/chat/raw-stream.ts";
import { createRandom } from "../../harness/ledger/ledger-load.ts";
import { testSeed } from "../../harness/test-seed.ts";
import { type Behaviour, canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";
import { openWire, writeRequest } from "../../harness/wire-connection.ts";

const vendors = ["open", "anthropic", "google"] as const;
type VendorName = (typeof vendors)[number];
const upstreamModels = { open: `${canary}-open`, anthropic: `${canary}-claude`, google: `${canary}-gemini` };
const usage = { inputTokens: 100, outputTokens: 20 };
const reportedCharge = priceOf({ input: 100, output: 20 });
const streamed = { stream: true, stream_options: { include_usage: true } };

/** A failing upstream opens its circuit, so each fault has its own model, and a storm has several. */
const faults = ["cut", "event", "malformed", "huge", "endless"];
const stormModels = Array.from({ length: 10 }, (_, index) => `storm-${index}`);

function writeCatalog(upstream: FakeUpstreams): string {
  const spoiled = vendors.flatMap((vendor) => faults.map((fault) => ({ vendor, id: `${vendor}-${fault}` })));
  const stormy = stormModels.map((id) => ({ vendor: "open" as const, id }));
  const models = [
    ...vendors.map((id) => ({ id, routes: [{ provider: id, upstream_model: upstreamModels[id] }] })),
    { id: "wide", limits: wideLimits, routes: [{ provider: "open", upstream_model: `${canary}-wide` }] },
    ...[...spoiled, ...stormy].map(({ vendor, id }) => ({
      id,
      routes: [{ provider: vendor, upstream_model: `${upstreamModels[vendor]}-${id}` }],
    })),
  ];
  return writeCatalogOf(upstream, {
    models,
    prices: models.map(({ id }) => writePrice(id, id === "wide" ? widePrice : {})),
  });
}

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeCatalog, settings: { stream_heartbeat_ms: 50 } });
});
afterAll(() => chat[Symbol.asyncDispose]());

let questionNumber = 0;

/** A unique question, and the upstream's behaviour for it. */
function askFor(model: string, behaviour: Behaviour, asked: Record<string, unknown> = streamed) {
  questionNumber += 1;
  const content = `Question ${questionNumber}`;
  const isMeant = ({ ask }: { ask: { prompt: string } | null }): boolean => ask?.prompt === content;
  chat.upstream.scriptFor(isMeant, behaviour);
  return {
    content,
    question: writeQuestion(model, { ...asked, messages: [{ role: "user", content }] }),
    findCall: () => chat.upstream.requests.find(isMeant),
  };
}

/** Asks, and reads to the end. */
async function stream(model: string, behaviour: Behaviour, asked?: Record<string, unknown>) {
  const caller = await chat.createCaller();
  const asking = askFor(model, behaviour, asked);
  const raw = await readRawStream(chat.gateway, { caller, question: asking.question });
  return { ...asking, caller, read: await raw.ended(), head: raw.text().split("\r\n\r\n", 1)[0] ?? "" };
}

/** The charges, once nothing is on hold. */
async function readPaid(caller: ChatCaller): Promise<string[]> {
  await caller.settled();
  expect((await caller.readBalance()).frozen).toBe("0.00");
  return (await caller.listCharges()).map(({ paid }) => paid);
}

describe("the head of a stream", () => {
  test.each(vendors)("is sent when %s has accepted, before any data", async (vendor) => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    const { question } = askFor(vendor, { afterHead: gate });
    const raw = await readRawStream(chat.gateway, { caller, question });
    await raw.received("\r\n\r\n");
    await gate.reached();
    expect(raw.read()).toMatchObject({ chunks: [], isDone: false });
    const head = raw.text().toLowerCase();
    expect(head).toMatch(/^http\/1\.1 200 ok\r\n/);
    for (const line of [
      "content-type: text/event-stream; charset=utf-8",
      "cache-control: no-cache, no-transform",
      "x-accel-buffering: no",
      "x-request-id: req_",
      "x-ratelimit-remaining: ",
      "x-ratelimit-remaining-tokens: ",
    ]) {
      expect(head).toContain(`\r\n${line}`);
    }
    gate.open();
    expect(await raw.ended()).toMatchObject({ isDone: true });
  });
});

describe("a silent stream", () => {
  test("sends keep-alives between events and never inside them", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    const { question } = askFor("open", { beforePiece: gate, pieces: ["One", " two", " three"], usage });
    const raw = await readRawStream(chat.gateway, { caller, question });
    for (let beats = 2; beats <= 6; beats += 2) {
      await waitUntil("signs of life", () => raw.read().comments >= beats);
      gate.release(1);
    }
    expect(await raw.ended()).toMatchObject({ text: "One two three", isDone: true });
    expect(await readPaid(caller)).toEqual([reportedCharge]);
  });

  test("runs to its end, paid, although its key is revoked meanwhile", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    const { question } = askFor("open", { beforePiece: gate, pieces: ["One", " two"], usage });
    const raw = await readRawStream(chat.gateway, { caller, question });
    await waitUntil("its admission", () => raw.read().comments > 0);
    await revokeApiKey(chat.gateway.parts, caller.keyId);
    await waitUntil(
      "the key to be refused",
      async () => (await chat.gateway.get("/models", caller.key)).status === 401,
    );
    gate.open();
    expect(await raw.ended()).toMatchObject({ text: "One two", isDone: true });
    await caller.settled();
    expect((await caller.listCharges()).map(({ paid }) => paid)).toEqual([reportedCharge]);
  });

  test("is parsed by the SDK", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    const { content } = askFor("open", { beforePiece: gate, pieces: ["One", " two"] });
    const messages = [{ role: "user" as const, content }];
    const chunks = await caller.client.chat.completions.create({ model: "open", messages, stream: true });
    let text = "";
    const reading = (async () => {
      for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? "";
    })();
    const watched = await readRawStream(chat.gateway, {
      caller,
      question: askFor("open", { beforePiece: gate }).question,
    });
    // Both have been silent for the same time.
    await waitUntil("signs of life", () => watched.read().comments >= 2);
    gate.open();
    await reading;
    await watched.ended();
    expect(text).toBe("One two");
  });
});

/** Whether a figure has stopped growing: many consecutive polls returned the same value. */
function stillness(read: () => number): () => boolean {
  let last = -1;
  let looks = 0;
  return () => {
    const now = read();
    looks = now === last && now > 0 ? looks + 1 : 0;
    last = now;
    return looks >= 25;
  };
}

/** After a collection, the heap contains live objects only. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

describe("a client that does not read", () => {
  /** The system's buffers for new connections; one that was fast for long may buffer more. */
  const stuckBytesMax = 20 * 2 ** 20;

  test("an endless answer uses no memory, and nothing after it disconnects", async () => {
    const caller = await chat.createCaller();
    const { question, findCall } = askFor("wide", { pieces: ["x".repeat(2 ** 14)], isEndless: true });
    collectGarbage();
    const before = process.memoryUsage();
    const raw = await readRawStream(chat.gateway, { caller, question });
    raw.pause();
    const call = await waitUntil("the call", findCall);
    await waitUntil(
      "the upstream to be stopped",
      stillness(() => call.bytesWritten),
    );
    collectGarbage();
    const after = process.memoryUsage();
    const grown = (name: "heapUsed" | "external" | "arrayBuffers" | "rss") => (after[name] - before[name]) / 2 ** 20;
    console.log(
      `a client that does not read: the upstream wrote ${(call.bytesWritten / 2 ** 20).toFixed(1)} MB, ` +
        `heap ${grown("heapUsed").toFixed(1)} MB, external ${grown("external").toFixed(1)} MB, rss ${grown("rss").toFixed(1)} MB`,
    );
    expect(call.bytesWritten).toBeLessThan(stuckBytesMax);
    expect(grown("heapUsed") + grown("external")).toBeLessThan(10);
    raw.hangUp();
    await waitUntil("the upstream to be left", () => call.outcome === "aborted");
    await caller.settled();
    expect(await caller.listHolds()).toMatchObject([{ state: "settled" }]);
  });

  test("pauses the upstream, and gets everything when it resumes", async () => {
    const caller = await chat.createCaller();
    const pieces = Array.from({ length: 400 }, (_, index) => `${index}:${"x".repeat(2 ** 16)} `);
    const { question, findCall } = askFor("wide", { pieces, usage });
    const raw = await readRawStream(chat.gateway, { caller, question });
    raw.pause();
    const call = await waitUntil("the call", findCall);
    await waitUntil(
      "the upstream to be stopped",
      stillness(() => call.bytesWritten),
    );
    expect(call.bytesWritten).toBeLessThan(stuckBytesMax);
    expect(call.outcome).toBe("open");
    raw.resume();
    const { text, isDone } = await raw.ended();
    expect([text.length, text === pieces.join(""), isDone]).toEqual([pieces.join("").length, true, true]);
    expect(await readPaid(caller)).toEqual(["0.00000012"]);
  });
});

describe("a caller who disconnects", () => {
  const moments = vendors.flatMap((vendor) => [
    { vendor, way: "in the middle of a stream", pieces: 2 },
    { vendor, way: "before the first word of a stream", pieces: 0 },
  ]);

  test.each(moments)("$way of $vendor stops the upstream at once", async ({ vendor, way, pieces }) => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    const { question, findCall } = askFor(
      vendor,
      { beforePiece: gate, pieces: ["abcd", "efgh", "ijkl"], usage },
      streamed,
    );
    const raw = await readRawStream(chat.gateway, { caller, question });
    await gate.reached();
    await waitUntil("the hold", async () => (await caller.listHolds()).length === 1);
    gate.release(pieces);
    await raw.received(pieces > 0 ? "efgh" : "200 OK");
    const hungUpAt = performance.now();
    raw.hangUp();
    const call = await waitUntil("the call to end", () => (findCall()?.outcome === "aborted" ? findCall() : null));
    const tookMs = (call.endedAt ?? Number.NaN) - hungUpAt;
    console.log(`hang-up ${way} of ${vendor}: the upstream felt it after ${tookMs.toFixed(1)} ms`);
    expect(tookMs).toBeLessThan(1000);
    // The upstream has accepted by then, so at least its input is charged.
    expect(await readPaid(caller)).toHaveLength(1);
  });

  test("while the hold is being written leaves no upstream call running", async () => {
    const caller = await chat.createCaller();
    const { question, findCall } = askFor("open", { beforeHead: chat.upstream.gate() });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const locking = chat.gateway.database.transaction().execute(async (tx) => {
      await sql`select from wallets where account_id = ${caller.accountId} for update`.execute(tx);
      lock();
      await released;
    });
    await locked;
    const raw = await readRawStream(chat.gateway, { caller, question });
    await waitUntil("the hold to wait", async () => {
      const { rows } = await sql<{ count: bigint }>`
        select count(*) as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(chat.gateway.database);
      return Number(rows[0]?.count) > 0;
    });
    raw.hangUp();
    await waitUntil("the gateway to notice", () =>
      chat.gateway.logs.some((line) => line.account_id === caller.accountId && line.aborted === true),
    );
    release();
    await locking;
    await waitUntil("the hold", async () => (await caller.listHolds()).length === 1);
    expect(await readPaid(caller)).toEqual([]);
    await waitUntil("the upstream to be left", () => findCall()?.outcome !== "open");
  });
});

describe("an upstream's stream", () => {
  const text = 'Grüße, 世界 🌍👩‍👩‍👧! "quoted" \\ and\nnew lines';
  const toolCalls = [{ name: "look", fragments: ['{"at":', '"夜 🌃"}'] }];
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const recorded: { name: string; behaviour: Behaviour; asked: Record<string, unknown> }[] = [
    { name: "a text", behaviour: { text, usage }, asked: streamed },
    { name: "a call of a tool", behaviour: { toolCalls, usage }, asked: { ...streamed, tools } },
  ];
  const everyRecorded = vendors.flatMap((vendor) => recorded.map((one) => ({ vendor, ...one })));

  /** The chunks that a client sees, without the fields that differ between calls. */
  const simplify = (chunks: unknown[]): unknown =>
    JSON.parse(JSON.stringify(chunks).replaceAll(/"(?:id|created)":(?:"(?:chatcmpl|call)[^"]*"|\d+)/g, '"made":0'));

  test.each(everyRecorded)("of $vendor with $name is the same, byte by byte", async ({ vendor, behaviour, asked }) => {
    const whole = await stream(vendor, behaviour, asked);
    const split = await stream(vendor, { ...behaviour, isSplitAtEveryByte: true }, asked);
    expect(whole.read).toMatchObject({ isDone: true, errorCode: null });
    expect(whole.read.chunks.length).toBeGreaterThan(2);
    expect(simplify(split.read.chunks)).toEqual(simplify(whole.read.chunks));
    expect([await readPaid(whole.caller), await readPaid(split.caller)]).toEqual([[reportedCharge], [reportedCharge]]);
  });

  const forms: { name: string; behaviour: Behaviour; only?: readonly VendorName[] }[] = [
    { name: "lines that end in CRLF", behaviour: { lineEnding: "\r\n" } },
    { name: "lines that end in CR", behaviour: { lineEnding: "\r" }, only: ["open"] },
    { name: "CRLF, byte by byte", behaviour: { lineEnding: "\r\n", isSplitAtEveryByte: true } },
    { name: "comments", behaviour: { hasComments: true } },
    { name: "no space after the colon", behaviour: { hasNoSpace: true } },
    { name: "no mark at its end", behaviour: { hasNoDone: true }, only: ["open", "google"] },
    { name: "no finish reason, but its mark", behaviour: { hasNoFinish: true }, only: ["open"] },
    { name: "an unknown finish reason", behaviour: { finishReason: `${canary}_reason` }, only: ["open"] },
    { name: "fields of its own", behaviour: { hasVendorFields: true } },
    { name: "a whole answer in its place", behaviour: { form: "whole" }, only: ["open"] },
    { name: "usage in its last chunk", behaviour: { usageIn: "last-chunk" }, only: ["open"] },
  ];
  const everyForm = forms.flatMap(({ only = vendors, ...form }) => only.map((vendor) => ({ vendor, ...form })));

  test.each(everyForm)("of $vendor with $name is a valid answer", async ({ vendor, behaviour }) => {
    const { read, caller } = await stream(vendor, { text, usage, ...behaviour });
    expect(read).toMatchObject({ text, finishReasons: ["stop"], isDone: true, errorCode: null });
    expect(read.chunks.at(-1)).toMatchObject({ choices: [], usage: { charge: reportedCharge } });
    expect(await readPaid(caller)).toEqual([reportedCharge]);
  });

  test("with characters split between chunks anywhere is a valid answer", async () => {
    const chunk = (delta: object, reason: string | null): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    const bytes = Buffer.from(`${chunk({ content: "世🌍é" }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
    const [from, to] = [bytes.indexOf("世"), bytes.indexOf("é") + 2];
    const cuts = Array.from({ length: to - from - 1 }, (_, index) => from + index + 1);
    expect(cuts).toHaveLength(8);
    for (const cut of cuts) {
      const { read } = await stream("open", { rawChunks: [bytes.subarray(0, cut), bytes.subarray(cut)] });
      expect(read).toMatchObject({ text: "世🌍é", isDone: true, errorCode: null });
    }
  });

  const heard = "abcdefgh";
  const breaks: { fault: string; behaviour: Behaviour; only?: readonly VendorName[] }[] = [
    { fault: "cut", behaviour: { cut: { afterPieces: 2 } } },
    { fault: "cut", behaviour: { cut: { afterPieces: 2, where: "inside-chunk" } } },
    { fault: "event", behaviour: { errorAfterPieces: 2 } },
    { fault: "huge", behaviour: { pieces: ["abcd", "efgh", "x".repeat(5 * 2 ** 20)] }, only: ["open"] },
  ];
  const everyBreak = breaks.flatMap(({ only = vendors, ...one }) => only.map((vendor) => ({ vendor, ...one })));

  test.each(everyBreak)(
    "of $vendor that breaks by $behaviour ends with an error",
    async ({ vendor, fault, behaviour }) => {
      const pieces = ["abcd", "efgh", "ijkl"];
      const { read, caller } = await stream(`${vendor}-${fault}`, { pieces, usage, ...behaviour });
      expect(read).toMatchObject({ text: heard, finishReasons: [], errorCode: "upstream_unavailable", isDone: false });
      const [paid, ...more] = await caller.settled().then(() => caller.listCharges());
      expect([more, paid?.items.counted_output_tokens]).toEqual([[], 2]);
      expect((await caller.readBalance()).frozen).toBe("0.00");
    },
  );

  test("of anthropic without an end marker may be incomplete, and ends with an error", async () => {
    const { read, caller } = await stream("anthropic-cut", { text: heard, usage, hasNoDone: true });
    expect(read).toMatchObject({ text: heard, errorCode: "upstream_unavailable", isDone: false });
    expect(await readPaid(caller)).toEqual([priceOf({ input: 100, output: countTokens(heard) })]);
  });

  test("with an event in its middle that is not JSON ends with an error", async () => {
    const chunk = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: heard }, finish_reason: null }] })}\n\n`;
    const { read, caller, content } = await stream("open-malformed", {
      rawChunks: [chunk, `data: {"${canary}":\n\n`, chunk],
    });
    expect(read).toMatchObject({ text: heard, errorCode: "upstream_unavailable", isDone: false });
    expect(await readPaid(caller)).toEqual([priceOf({ input: countTokens(content), output: countTokens(heard) })]);
  });

  test.each(vendors)("of %s that is not JSON from the start costs nothing", async (vendor) => {
    const { read, caller } = await stream(`${vendor}-malformed`, { text, isMalformed: true, usage });
    expect(read).toMatchObject({ text: "", errorCode: "upstream_unavailable", isDone: false });
    expect(await readPaid(caller)).toEqual([]);
  });
});

test("two hundred streams at once, cut and abandoned at random, leave nothing behind", async () => {
  console.log(`stormy streams: seed ${testSeed}`);
  const random = createRandom(testSeed);
  const callers = await Promise.all(Array.from({ length: 4 }, () => chat.createCaller({ cash: "1000" })));
  const pieces = Array.from({ length: 20 }, (_, index) => `word${index} `);
  const complete = pieces.join("");
  const callsBefore = chat.upstream.requests.length;
  let wholeCount = 0;

  async function weather(): Promise<void> {
    const caller = random.pick(callers) as ChatCaller;
    const luck = random.below(4);
    const cut = {
      cut: { afterPieces: random.below(20), where: random.pick(["between-chunks", "inside-chunk"] as const) },
    };
    const behaviour = { pieces, usage, ...(luck === 0 ? (cut as Behaviour) : {}) };
    const { question } = askFor(random.pick(stormModels) ?? "", behaviour);
    const raw = await readRawStream(chat.gateway, { caller, question });
    if (luck === 1) {
      const word = pieces[random.below(20)] ?? "";
      await waitUntil("a word, or a refusal", () => /"code"/.test(raw.text()) || raw.text().includes(word));
      raw.hangUp();
      return;
    }
    const { text, isDone, errorCode } = await raw.ended();
    // The circuit of a failing upstream is open: the answer is an error instead of a stream.
    if (raw.text().startsWith("HTTP/1.1 503 ")) {
      expect(raw.text()).toMatch(/"code":"(model|upstream)_unavailable"/);
      return;
    }
    expect(complete.startsWith(text)).toBe(true);
    expect([isDone, errorCode]).toEqual(text === complete ? [true, null] : [false, "upstream_unavailable"]);
    if (isDone) wholeCount += 1;
  }

  await Promise.all(Array.from({ length: 200 }, weather));
  for (const caller of callers) {
    await caller.settled();
    expect(await caller.readBalance()).toMatchObject({ frozen: "0.00" });
  }
  await waitUntil("the upstream to be left", () =>
    chat.upstream.requests.slice(callsBefore).every(({ outcome }) => outcome !== "open"),
  );
  const paid = (await Promise.all(callers.map((caller) => caller.listCharges()))).flat();
  expect(paid.filter((one) => one.paid === reportedCharge).length).toBeGreaterThanOrEqual(wholeCount);
  expect(wholeCount).toBeGreaterThan(0);
});

describe("a gateway that shuts down", () => {
  async function openStopping(shutdownTimeoutMs: number) {
    const stopping = await openChatGateway({ settings: { shutdown_timeout_ms: shutdownTimeoutMs } });
    const caller = await stopping.createCaller();
    const gate = stopping.upstream.gate();
    stopping.upstream.script({ beforePiece: gate, pieces: ["abcd", "efgh", "ijkl"] });
    const raw = await readRawStream(stopping.gateway, { caller, question: writeQuestion("open", streamed) });
    await gate.reached();
    gate.release(1);
    await raw.received("abcd");
    return { stopping, gate, raw };
  }

  test("lets its streams finish", async () => {
    const { stopping, gate, raw } = await openStopping(30_000);
    const closing = stopping.gateway[Symbol.asyncDispose]();
    await waitUntil("new connections to be refused", () =>
      fetch(stopping.gateway.siteUrl).then(
        () => false,
        () => true,
      ),
    );
    gate.open();
    expect(await raw.ended()).toMatchObject({ text: "abcdefghijkl", isDone: true, errorCode: null });
    await closing;
    await stopping.upstream[Symbol.asyncDispose]();
  });

  test("serves connections with a running stream, and closes connections that are idle after it", async () => {
    const stopping = await openChatGateway({ settings: { shutdown_timeout_ms: 3_600_000 } });
    const { key } = await stopping.createCaller();
    const gates = [stopping.upstream.gate(), stopping.upstream.gate()];
    const connections = [await openWire(stopping.gateway.port), await openWire(stopping.gateway.port)] as const;
    for (const [index, connection] of connections.entries()) {
      const gate = gates[index] ?? stopping.upstream.gate();
      stopping.upstream.script({ beforePiece: gate, pieces: ["abcd", "efgh"] });
      const headers = { authorization: `Bearer ${key}` };
      const body = writeQuestion("open", streamed);
      connection.write(writeRequest("POST /v1/chat/completions HTTP/1.1", { headers, body }));
      await gate.reached();
      gate.release(1);
      await connection.begun();
    }
    const closing = stopping.gateway[Symbol.asyncDispose]();
    for (const gate of gates) gate.open();
    for (const connection of connections) {
      const answer = await connection.read("POST");
      expect(answer).toMatchObject({ status: 200, headers: { connection: "keep-alive" } });
      expect(answer.body).toContain("[DONE]");
    }
    const [used, idle] = connections;
    used.write(writeRequest("GET /healthz HTTP/1.1"));
    expect(await used.read("GET")).toMatchObject({ status: 200, headers: { connection: "close" } });
    await Promise.all([used.closed(), idle.closed(), closing]);
    await stopping.upstream[Symbol.asyncDispose]();
  });

  test("sends an error to a stream that takes too long before cutting it off", async () => {
    const { stopping, raw } = await openStopping(50);
    await stopping.gateway[Symbol.asyncDispose]();
    await stopping.upstream[Symbol.asyncDispose]();
    expect(await raw.ended()).toMatchObject({ text: "abcd", isDone: false, errorCode: "shutting_down" });
  });
});
