import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listJobs } from "../../../src/app/list-jobs.ts";
import { createApiKey } from "../../../src/features/accounts/index.ts";
import { bookCredit } from "../../../src/features/ledger/index.ts";
import { nano } from "../../../src/lib/money.ts";
import { createLogger } from "../../../src/platform/observability/logger.ts";
import { createMetrics } from "../../../src/platform/observability/metrics.ts";
import { wideLimits, widePrice, writeCatalogOf, writePrice } from "../../harness/chat/chat-catalog.ts";
import { type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { boundInput, priceOf } from "../../harness/chat/hear-chat.ts";
import {
  createKeyedCall,
  type KeyedAnswer,
  type KeyedCall,
  leaveDeadClaim,
  listKeys,
} from "../../harness/chat/keyed-chat.ts";
import { readRawStream } from "../../harness/chat/raw-stream.ts";
import { createTestClock } from "../../harness/test-clock.ts";
import { type Behaviour, canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const hourMs = 60 * 60_000;
const ways = [
  { way: "whole", asked: {} },
  { way: "streamed", asked: { stream: true, stream_options: { include_usage: true } } },
] as const;
const everyWay = ["open", "anthropic", "google"].flatMap((model) => ways.map((one) => ({ model, ...one })));
const usage = { inputTokens: 100, outputTokens: 20 };
const charge = "0.14";

/** One model per kind of failure: a failing upstream opens its circuit, which must not affect other tests. */
const failing = ["cut-early", "refusing", "down", "down-streamed", "broken", "broken-early"];

function writeCatalog(upstream: FakeUpstreams, { isOpenOffered = true } = {}): string {
  const models = [
    ...(isOpenOffered ? [{ id: "open", routes: [{ provider: "open", upstream_model: `${canary}-open` }] }] : []),
    { id: "anthropic", routes: [{ provider: "anthropic", upstream_model: `${canary}-claude` }] },
    { id: "google", routes: [{ provider: "google", upstream_model: `${canary}-gemini` }] },
    ...["free", ...failing].map((id) => ({ id, routes: [{ provider: "open", upstream_model: `${canary}-${id}` }] })),
    { id: "wide", limits: wideLimits, routes: [{ provider: "open", upstream_model: `${canary}-wide` }] },
    {
      id: "frugal",
      usual_output_tokens: 10,
      routes: [{ provider: "open", upstream_model: `${canary}-frugal` }],
    },
  ];
  const gratis = { input_price: "0", cached_input_price: "0", output_price: "0" };
  return writeCatalogOf(upstream, {
    models,
    prices: models.map(({ id }) => writePrice(id, id === "free" ? gratis : id === "wide" ? widePrice : {})),
  });
}

const clock = createTestClock(new Date());
let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeCatalog, clock });
});
afterAll(() => chat[Symbol.asyncDispose]());

/** Retries a call until the first one is over. */
async function sendUntilOver(call: KeyedCall): Promise<KeyedAnswer> {
  return await waitUntil("the first call to be over", async () => {
    const answer = await call.send();
    return answer.code === "idempotency_in_progress" ? null : answer;
  });
}

function expectReplay(again: KeyedAnswer, first: KeyedAnswer): void {
  expect([again.status, again.isReplay, again.text]).toEqual([first.status, true, first.text]);
  expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
}

describe("a call that is retried with its key", () => {
  test.each(everyWay)("to $model, $way, gets the first answer, byte for byte, and is charged once", async (one) => {
    const call = await createKeyedCall(chat, one);
    call.script({ text: "Hello there, 世界 🌍", usage });
    const first = await call.send();
    expect([first.status, first.isReplay]).toEqual([200, false]);
    expect(first.text).toContain(`"charge":"${charge}"`);
    for (const again of [await call.send(), await call.send()]) {
      expectReplay(again, first);
      expect(again.headers.get("x-request-id")).toMatch(/^req_/);
      expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    }
    await call.expectDoneOnce();
    expect(await call.caller.listCharges()).toMatchObject([{ paid: charge }]);
  });

  test("is parsed by the SDK as it was the first time", async () => {
    const call = await createKeyedCall(chat, { asked: ways[1].asked });
    const { completions } = call.caller.client.chat;
    const options = { headers: { "Idempotency-Key": call.key } };
    const listen = async () => {
      const { data, response } = await completions
        .create({ ...call.fields, stream: true, stream_options: { include_usage: true } }, options)
        .withResponse();
      return { chunks: await Array.fromAsync(data), isReplay: response.headers.get("idempotent-replayed") === "true" };
    };
    const first = await listen();
    expect(first.chunks.length).toBeGreaterThan(3);
    expect(first.chunks.at(-1)?.usage).toMatchObject({ charge: expect.any(String) });
    expect(await listen()).toEqual({ chunks: first.chunks, isReplay: true });
    await call.expectDoneOnce();
  });

  test.each(ways)("but with a different body, $way, is refused and runs nothing", async ({ asked }) => {
    const call = await createKeyedCall(chat, { asked });
    const gate = chat.upstream.gate();
    call.script({ beforeHead: gate });
    const first = call.send();
    await gate.reached();
    const other = call.question.replace("}]", "} ]");
    expect(JSON.parse(other)).toEqual(JSON.parse(call.question));
    const whileRunning = await call.send({ question: other });
    gate.open();
    await first;
    for (const refused of [whileRunning, await call.send({ question: other })]) {
      expect(refused).toMatchObject({ status: 422, code: "idempotency_key_reused", isReplay: false });
      expect(JSON.parse(refused.text).error).toMatchObject({
        type: "invalid_request_error",
        param: "Idempotency-Key",
      });
    }
    await call.expectDoneOnce();
    expectReplay(await call.send(), await first);
  });

  test.each(ways)("while the first, $way, is running gets 409 with Retry-After", async ({ asked }) => {
    const call = await createKeyedCall(chat, { asked });
    const gate = chat.upstream.gate();
    call.script({ beforePiece: gate });
    const first = call.send();
    await gate.reached();
    const second = await call.send();
    expect(second).toMatchObject({ status: 409, code: "idempotency_in_progress", isReplay: false });
    expect(second.headers.get("retry-after")).toBe("1");
    expect(second.headers.get("x-should-retry")).toBeNull();
    gate.open();
    expectReplay(await sendUntilOver(call), await first);
    await call.expectDoneOnce();
  });

  test("by the SDK, which retries, gets the answer when the first is over", async () => {
    const caller = await chat.createCaller({ maxRetries: 10 });
    const call = await createKeyedCall(chat, { caller });
    const gate = chat.upstream.gate();
    call.script({ beforeHead: gate, usage });
    const ask = () =>
      caller.client.chat.completions.create(
        { ...call.fields, stream: false },
        { headers: { "Idempotency-Key": call.key } },
      );
    const first = ask();
    await gate.reached();
    const second = ask();
    await waitUntil("the second to be told to wait", () =>
      chat.gateway.logs.some(
        (line) => line.account_id === caller.accountId && line.error_code === "idempotency_in_progress",
      ),
    );
    gate.open();
    expect(await second).toEqual(await first);
    await call.expectDoneOnce();
  });

  test.each(ways)("a hundred times at once, $way, runs once", async ({ asked }) => {
    const call = await createKeyedCall(chat, { asked });
    const gate = chat.upstream.gate();
    call.script({ beforeHead: gate });
    let refusals = 0;
    const sends = Array.from({ length: 100 }, async () => {
      const answer = await call.send();
      if (answer.code === "idempotency_in_progress") refusals += 1;
      return answer;
    });
    await waitUntil("all but one to be told to wait", () => refusals === 99);
    gate.open();
    const answers = await Promise.all(sends);
    const answered = answers.filter(({ status }) => status === 200);
    expect(answered).toHaveLength(1);
    await call.expectDoneOnce();
    const later = await Promise.all(Array.from({ length: 100 }, () => call.send()));
    expect(new Set(later.map(({ text, isReplay }) => `${isReplay} ${text}`))).toEqual(
      new Set([`true ${answered[0]?.text}`]),
    );
    await call.expectDoneOnce();
  });
});

describe("a key", () => {
  test("of another account is a different key", async () => {
    const call = await createKeyedCall(chat);
    const stranger = await chat.createCaller();
    const first = await call.send();
    const second = await call.send({ by: stranger });
    expect(second).toMatchObject({ status: 200, isReplay: false });
    expect(JSON.parse(second.text).id).not.toBe(JSON.parse(first.text).id);
    expect([await call.caller.listCharges(), await stranger.listCharges()]).toMatchObject([[{}], [{}]]);
    expect(call.calls()).toHaveLength(2);
  });

  test("belongs to the account, so a rotated API key finds it", async () => {
    const call = await createKeyedCall(chat);
    const first = await call.send();
    const { text } = await createApiKey(
      { ...chat.gateway.parts, randomBytes },
      { accountId: call.caller.accountId, name: "rotated" },
    );
    expectReplay(await call.send({ by: { ...call.caller, key: text } }), first);
    await call.expectDoneOnce();
  });

  test("is the same with quotes around it, as some clients send it", async () => {
    const call = await createKeyedCall(chat);
    const first = await call.send({ key: `"${call.key}"` });
    expectReplay(await call.send(), first);
    expect(await listKeys(chat.gateway, call.caller)).toMatchObject([{ key: call.key }]);
  });

  test.each([
    ["nothing", ""],
    ["nothing in quotes", '""'],
    ["a space", "a b"],
    ["256 characters", "k".repeat(256)],
    ["a letter beyond ASCII", "clé"],
  ])("of %s is refused, and runs nothing", async (_name, key) => {
    const call = await createKeyedCall(chat);
    const refused = await call.send({ key });
    expect(refused).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(JSON.parse(refused.text).error.param).toBe("Idempotency-Key");
    expect([call.calls(), await call.caller.listHolds()]).toEqual([[], []]);
  });

  test("of 255 characters is accepted", async () => {
    const call = await createKeyedCall(chat);
    const key = "~".repeat(255);
    const first = await call.send({ key });
    expectReplay(await call.send({ key: `"${key}"` }), first);
  });

  test("is free again after 24 hours, and not before", async () => {
    const call = await createKeyedCall(chat);
    const first = await call.send();
    clock.advance(24 * hourMs - 1);
    expectReplay(await call.send(), first);
    expect(await call.send({ question: call.question.replace("}]", "} ]") })).toMatchObject({ status: 422 });
    clock.advance(1);
    const other = await call.send({ question: call.question.replace("}]", "} ]") });
    expect(other).toMatchObject({ status: 200, isReplay: false });
    expect(call.calls()).toHaveLength(2);
    expect(await call.caller.listCharges()).toHaveLength(2);
  });

  test("is deleted after its retention, and no other key is", async () => {
    const { database } = chat.gateway;
    const old = await createKeyedCall(chat);
    await old.send();
    const { caller } = old;
    const dead = await createKeyedCall(chat, { caller });
    await leaveDeadClaim(chat.gateway, dead, { renewedAt: clock.now(), hold: "none" });
    clock.advance(24 * hourMs);
    const young = await createKeyedCall(chat, { caller });
    await young.send();
    const alive = await createKeyedCall(chat, { caller });
    const longAgo = new Date(clock.now().getTime() - 24 * hourMs);
    await leaveDeadClaim(chat.gateway, alive, { renewedAt: longAgo, hold: "none" });
    await database
      .updateTable("idempotency_keys")
      .set({ lease_until: new Date(clock.now().getTime() + 1) })
      .where("key", "=", alive.key)
      .execute();
    const many = Array.from({ length: 2500 }, (_, number) => ({
      ...{ account_id: caller.accountId, key: `many-${number}`, request_id: "req_many", state: "running" },
      ...{ fingerprint: Buffer.alloc(32), lease_until: longAgo, created_at: longAgo, expires_at: longAgo },
    }));
    await database.insertInto("idempotency_keys").values(many).execute();

    const logger = createLogger({ level: "error", format: "json", write: () => {} });
    const job = listJobs({
      ...chat.gateway.parts,
      currency: "USD",
      logger,
      metrics: createMetrics(),
      requestLogDays: 30,
      retention: { taskDays: 0, promptDays: 0 },
      contentLogDays: 7,
      removeExpiredFiles: async () => {},
      sweepCheckouts: async () => {},
      topUpAccounts: async () => {},
      raiseAlerts: async () => {},
      checkAlarms: async () => {},
      issueStatements: async () => {},
      sendNotices: async () => {},
      sweepResponses: async () => {},
      applyScheduledCatalogs: async () => {},
      pollVendorBalances: async () => {},
      sweepViews: async () => {},
      eraseLateRows: async () => {},
    }).find(({ name }) => name === "forget-idempotency-keys");
    await job?.run(new AbortController().signal);
    const left = (await listKeys(chat.gateway, caller)).map(({ key }) => key);
    expect(left.sort()).toEqual([alive.key, young.key].sort());
  });
});

describe("a caller with a key who disconnects", () => {
  test.each(ways)("before the answer, $way, gets it on retry, and pays once", async ({ asked }) => {
    const call = await createKeyedCall(chat, { asked });
    const gate = chat.upstream.gate();
    call.script({ beforeHead: gate, text: "Hello there", usage });
    const controller = new AbortController();
    const lost = call.send({ signal: controller.signal }).catch(() => "lost");
    await gate.reached();
    controller.abort();
    expect(await lost).toBe("lost");
    expect(await call.send()).toMatchObject({ status: 409, code: "idempotency_in_progress" });
    gate.open();
    const answer = await sendUntilOver(call);
    expect(answer).toMatchObject({ status: 200, isReplay: true, text: expect.stringContaining(" there") });
    await call.expectDoneOnce();
    expect(call.calls()).toMatchObject([{ outcome: "finished" }]);
    expect(await call.caller.listCharges()).toMatchObject([{ paid: charge, items: { input_tokens: 100 } }]);
  });

  test("in the middle of a stream gets all of it on retry", async () => {
    const call = await createKeyedCall(chat, { asked: ways[1].asked });
    const gate = chat.upstream.gate();
    call.script({ beforePiece: gate, pieces: ["One", " two", " three"], usage });
    const stream = await readRawStream(chat.gateway, call);
    gate.release(1);
    await stream.received('"content":"One"');
    stream.hangUp();
    await waitUntil("the gateway to notice", () =>
      chat.gateway.logs.some((line) => line.account_id === call.caller.accountId && line.aborted === true),
    );
    gate.open();
    const answer = await sendUntilOver(call);
    expect(answer.text.split("\n\n").slice(-2)).toEqual(["data: [DONE]", ""]);
    for (const piece of ["One", " two", " three"]) expect(answer.text).toContain(`"content":"${piece}"`);
    await call.expectDoneOnce();
    expect(call.calls()).toMatchObject([{ outcome: "finished" }]);
  });

  test("after not reading for a while gets the answer, and blocks nothing", async () => {
    const call = await createKeyedCall(chat, { model: "wide", asked: { stream: true } });
    call.script({ pieces: Array.from({ length: 300 }, () => "x".repeat(2 ** 16)), usage });
    const stream = await readRawStream(chat.gateway, call);
    stream.pause();
    const [asked] = await waitUntil("the call at the upstream", () => call.calls().length > 0 && call.calls());
    await waitUntil(
      "the stream to be stuck",
      stillness(() => asked?.bytesWritten ?? 0),
    );
    stream.hangUp();
    await waitUntil("the call to end", () => asked?.outcome === "finished");
    await call.expectDoneOnce();
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
    return looks >= 15;
  };
}

describe("the stored answer", () => {
  test("can be a broken stream with its error, which never runs again", async () => {
    const call = await createKeyedCall(chat, { model: "broken", asked: ways[1].asked });
    call.script({ pieces: ["abcd", "efgh", "ijkl"], cut: { afterPieces: 2 } });
    const first = await call.send();
    expect(first).toMatchObject({ status: 200, isReplay: false });
    expect(first.text).toContain("efgh");
    expect(first.text).not.toContain("[DONE]");
    const last = JSON.parse(first.text.trim().split("\n\n").at(-1)?.slice("data: ".length) ?? "");
    expect(last).toMatchObject({ error: { code: "upstream_unavailable" }, request_id: expect.stringMatching(/^req_/) });
    expectReplay(await call.send(), first);
    await call.expectDoneOnce();
    expect(await call.caller.listCharges()).toMatchObject([{ items: { counted_output_tokens: 2 } }]);
  });

  test.each(ways)("is missing for an answer over a mebibyte, $way: retries get its id and usage", async ({ asked }) => {
    const call = await createKeyedCall(chat, { model: "wide", asked });
    call.script({ pieces: Array.from({ length: 17 }, () => "x".repeat(2 ** 16)), usage });
    const first = await call.send();
    expect([first.status, first.text.length > 2 ** 20]).toEqual([200, true]);
    const id = /"id":"(chatcmpl-[^"]+)"/.exec(first.text)?.[1];
    const again = await call.send();
    expect(again).toMatchObject({ status: 409, code: "already_completed", isReplay: true });
    const { error } = JSON.parse(again.text);
    for (const told of [id, "100 prompt tokens", "20 completion tokens", "0.00000012"])
      expect(error.message).toContain(told);
    expect(again.headers.get("x-should-retry")).toBe("false");
    await call.expectDoneOnce();
  });

  test.each(ways)("can have cost nothing, $way", async ({ asked }) => {
    const call = await createKeyedCall(chat, { model: "free", asked });
    const first = await call.send();
    expect(first.text).toContain('"charge":"0.00"');
    expectReplay(await call.send(), first);
    expect(call.calls()).toHaveLength(1);
    expect([await call.caller.listHolds(), await call.caller.listCharges()]).toEqual([[], []]);
  });

  test.each(ways)("can be one cut off by the balance, $way, and is replayed without money", async ({ asked }) => {
    const { question } = await createKeyedCall(chat, { model: "frugal", asked });
    // The next question is as long as this one, or one byte longer.
    const cash = priceOf({ input: boundInput(question) + 1, output: 20 });
    const caller = await chat.createCaller({ cash });
    const call = await createKeyedCall(chat, { model: "frugal", asked, caller });
    const words = Array.from({ length: 60 }, () => "word ");
    call.script("stream" in asked ? { pieces: words, usage: null } : { text: words.join("") });
    const first = await call.send();
    expect(first.text).toContain('"finish_reason":"length"');
    expect(first.text).toContain('"stopped_by":"insufficient_balance"');
    expectReplay(await call.send(), first);
    await call.expectDoneOnce();
  });

  test("is replayed even if its model is no longer offered", async () => {
    const call = await createKeyedCall(chat);
    const first = await call.send();
    try {
      await chat.applyCatalog(writeCatalog(chat.upstream, { isOpenOffered: false }));
      expectReplay(await call.send(), first);
    } finally {
      await chat.applyCatalog(writeCatalog(chat.upstream));
    }
  });
});

describe("a call without effect is not stored: a retry runs", () => {
  const streamed = { stream: true };
  const failures: {
    name: string;
    model: string;
    asked?: object;
    behaviour: Behaviour;
    status: number;
    code: string;
  }[] = [
    {
      ...{ name: "a stream that broke before its first data", model: "cut-early", asked: streamed },
      ...{ behaviour: { cut: "after-head" }, status: 200, code: "upstream_unavailable" },
    },
    {
      ...{ name: "a stream that brought an error before its first data", model: "broken-early", asked: streamed },
      ...{ behaviour: { rawChunks: ['data: {"error":{"message":"no"}}\n\n'] } },
      ...{ status: 200, code: "upstream_unavailable" },
    },
    {
      name: "an upstream that is down",
      model: "down",
      behaviour: { status: 503 },
      status: 503,
      code: "upstream_unavailable",
    },
    {
      ...{ name: "an upstream that is down for streams", model: "down-streamed", asked: streamed },
      ...{ behaviour: { status: 500 }, status: 503, code: "upstream_unavailable" },
    },
    {
      name: "an upstream that refuses",
      model: "refusing",
      behaviour: { status: 400 },
      status: 400,
      code: "invalid_parameter",
    },
  ];

  test.each(failures)("$name", async ({ model, asked = {}, behaviour, status, code }) => {
    const call = await createKeyedCall(chat, { model, asked: { ...asked } });
    call.script(behaviour);
    const failed = await call.send();
    expect(failed.status).toBe(status);
    expect(failed.text).toContain(`"code":"${code}"`);
    await call.caller.settled();
    expect([await listKeys(chat.gateway, call.caller), await call.caller.listCharges()]).toEqual([[], []]);
    expect(await call.send()).toMatchObject({ status: 200, isReplay: false });
    expect(call.calls()).toHaveLength(2);
    expect(await call.caller.listCharges()).toHaveLength(1);
  });

  test("an insufficient balance", async () => {
    const caller = await chat.createCaller({ cash: "0" });
    const call = await createKeyedCall(chat, { caller });
    expect(await call.send()).toMatchObject({ status: 402, code: "insufficient_balance" });
    expect(await listKeys(chat.gateway, caller)).toEqual([]);
    const credit = {
      booking: { kind: "top-up", amount: nano(10_000_000_000n) },
      actor: "test",
      reason: "test",
    } as const;
    await bookCredit(chat.gateway.parts, { accountId: caller.accountId, reference: null, ...credit });
    expect(await call.send()).toMatchObject({ status: 200, isReplay: false });
    await call.expectDoneOnce();
  });

  test("an exceeded limit", async () => {
    const caller = await chat.createCaller({ limits: { concurrentRequests: 1 } });
    const other = await createKeyedCall(chat, { caller });
    const gate = chat.upstream.gate();
    other.script({ beforeHead: gate });
    const running = other.send();
    await gate.reached();
    const call = await createKeyedCall(chat, { caller });
    expect(await call.send()).toMatchObject({ status: 429, code: "concurrency_limit_exceeded" });
    expect(await listKeys(chat.gateway, caller)).toMatchObject([{ key: other.key }]);
    gate.open();
    await running;
    await waitUntil("the place to be free", async () => (await call.send()).status === 200);
    expect([call.calls(), other.calls()]).toMatchObject([[{}], [{}]]);
  });

  test.each([
    ["an unknown model", (question: string) => question.replace('"open"', '"none"'), 404],
    ["an unknown field", (question: string) => question.replace("}]", '}],"colour":"red"'), 400],
    ["a body that is not JSON", (question: string) => question.slice(1), 400],
  ])("%s", async (_name, spoil, status) => {
    const call = await createKeyedCall(chat);
    expect(await call.send({ question: spoil(call.question) })).toMatchObject({ status });
    expect(await call.send()).toMatchObject({ status: 200, isReplay: false });
    await call.expectDoneOnce();
  });
});
