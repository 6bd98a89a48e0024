import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { changeAccount } from "../../../src/app/change-account.ts";
import { bookCredit } from "../../../src/features/ledger/index.ts";
import { freezeWallet } from "../../../src/features/ledger/invariant-store.ts";
import { nano, parseMoney, presentMoney } from "../../../src/lib/money.ts";
import { countTokens } from "../../../src/lib/token-meter.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { upstreamKeyName, writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { askChat, boundInput, openAnswer, priceOf, writeQuestion } from "../../harness/chat/hear-chat.ts";
import { lockWallet } from "../../harness/ledger/lock-wallet.ts";
import { createTestClock } from "../../harness/test-clock.ts";
import { type Behaviour, canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const vendors = ["open", "anthropic", "google"] as const;
const ways = [
  { way: "whole", asked: {} },
  { way: "streamed", asked: { stream: true, stream_options: { include_usage: true } } },
] as const;
const everyWay = vendors.flatMap((vendor) => ways.map((one) => ({ vendor, ...one })));
const streamed = ways[1].asked;

/** Each vendor's model twice: with the default hold, and with a hold of 10 output tokens. */
function writeCatalog(upstream: FakeUpstreams): string {
  const upstreamModels = { open: `${canary}-open`, anthropic: `${canary}-claude`, google: `${canary}-gemini` };
  const models = vendors.map((id) => ({ id, routes: [{ provider: id, upstream_model: upstreamModels[id] }] }));
  const short = models.map((model) => ({ ...model, id: `short-${model.id}`, usual_output_tokens: 10 }));
  const own = (id: string, provider = "open") => ({
    id,
    usual_output_tokens: 10,
    routes: [{ provider, upstream_model: upstreamModels.open }],
  });
  const visible = { hold: undefined, capabilities: ["chat", "streaming"] };
  const others = [
    { ...own("thinker"), hold: undefined },
    { ...own("careful"), ...visible, hold: "full" },
    { ...own("plain"), ...visible },
    { ...own("untold", "silent"), ...visible },
  ];
  const silent = { id: "silent", kind: "openai-compatible", base_url: upstream.openAiUrl, stream_usage: false };
  return writeCatalogOf(upstream, {
    models: [...models, ...short, ...others],
    providers: [{ ...silent, api_keys: [`\${${upstreamKeyName}}`] }],
  });
}

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeCatalog });
});
afterAll(() => chat[Symbol.asyncDispose]());

let testNumber = 0;
beforeEach(() => {
  testNumber += 1;
});

/** Scripts the upstream's next behaviours and drops those that a failed test left over. */
function script(...behaviours: readonly Behaviour[]): void {
  const ownNumber = testNumber;
  chat.upstream.scriptFor(() => testNumber === ownNumber, ...behaviours);
}

function toNano(amount: string): bigint {
  return parseMoney(amount) ?? -1n;
}

function sumPaid(charges: readonly { paid: string }[]): bigint {
  return charges.reduce((sum, { paid }) => sum + toNano(paid), 0n);
}

/** This many pieces of one token each. */
function writePieces(count: number): string[] {
  return Array.from({ length: count }, () => "abcd");
}

async function expectNothingMoved(caller: ChatCaller, available = "10.00"): Promise<void> {
  await caller.settled();
  expect(await caller.listCharges()).toEqual([]);
  expect(await caller.readBalance()).toEqual({ available, frozen: "0.00" });
}

describe("a hold", () => {
  test.each([
    ["the model's maximum, if it is below the default", "open", {}, { held: 1000, cap: 1000 }],
    ["what was asked for", "open", { max_tokens: 50 }, { held: 50, cap: 50 }],
    ["the requested cap in the newer field", "open", { max_completion_tokens: 50 }, { held: 50, cap: 50 }],
    ["the default, for a stream without a requested cap", "short-open", { stream: true }, { held: 10, cap: 1000 }],
    [
      "the default, for a stream with a higher requested cap",
      "short-open",
      { stream: true, max_tokens: 500 },
      { held: 10, cap: 500 },
    ],
    ["the requested cap, if it is below the default", "short-open", { max_tokens: 5 }, { held: 5, cap: 5 }],
    ["the default for each choice", "short-open", { stream: true, n: 4 }, { held: 40, cap: 1000 }],
    ["the same for Anthropic", "short-anthropic", { stream: true, max_tokens: 500 }, { held: 10, cap: 500 }],
    ["the same for Google", "short-google", { stream: true }, { held: 10, cap: 1000 }],
    ["the whole cap for a whole answer", "short-open", {}, { held: 1000, cap: 1000 }],
    ["the whole cap for a whole answer, for each choice", "short-open", { n: 4 }, { held: 4000, cap: 1000 }],
    ["the whole requested cap", "short-google", { max_tokens: 500 }, { held: 500, cap: 500 }],
    ["the whole cap for a model with hidden reasoning", "thinker", { stream: true }, { held: 1000, cap: 1000 }],
    ["the whole cap where the catalog says so", "careful", { stream: true }, { held: 1000, cap: 1000 }],
    ["the default for a model without reasoning", "plain", { stream: true }, { held: 10, cap: 1000 }],
    ["the whole cap where usage never comes in a stream", "untold", { stream: true }, { held: 1000, cap: 1000 }],
  ])("is the upper bound of the input plus, for output, %s", async (_name, model, asked, { held, cap }) => {
    const caller = await chat.createCaller({ cash: "100" });
    const gate = chat.upstream.gate();
    script({ beforeHead: gate });
    const question = writeQuestion(model, asked);
    const answer = askChat(caller, question);
    await gate.reached();
    const amount = priceOf({ input: boundInput(question), output: held });
    expect(await caller.listHolds()).toMatchObject([{ state: "open", unit: "money", amount }]);
    expect((await caller.readBalance()).frozen).toBe(amount);
    // The upstream always receives a cap.
    expect(chat.upstream.requests.at(-1)?.ask?.outputTokensMax).toBe(cap);
    gate.open();
    expect((await answer).status).toBe(200);
    expect((await caller.readBalance()).frozen).toBe("0.00");
  });

  test.each(ways)(
    "that the balance cannot cover, $way, is 402, states the missing amount, and calls no upstream",
    async ({ asked }) => {
      const question = writeQuestion("open", { max_tokens: 50, ...asked });
      const needed = priceOf({ input: boundInput(question), output: 50 });
      const cash = presentMoney(nano(toNano(needed) - 1n));
      const caller = await chat.createCaller({ cash });
      const callsBefore = chat.upstream.requests.length;
      const heard = await askChat(caller, question);
      expect(heard).toMatchObject({ status: 402, error: { code: "insufficient_balance", type: "insufficient_quota" } });
      expect(heard.error?.message).toBe(
        `This request reserves ${needed} USD. Your available balance is ${cash} USD. Add 0.000000001 USD at http://localhost:4242/console/billing to continue.`,
      );
      expect(heard.headers.get("x-should-retry")).toBe("false");
      expect(chat.upstream.requests.length).toBe(callsBefore);
      await expectNothingMoved(caller, cash);
      expect((await caller.listHolds()).map(({ state }) => state)).toEqual(["refused"]);
      await bookCredit(chat.gateway.parts, {
        accountId: caller.accountId,
        booking: { kind: "top-up", amount: nano(1n) },
        ...{ actor: "test", reason: "test", reference: null },
      });
      expect((await askChat(caller, question)).status).toBe(200);
    },
  );

  test("that exceeds a key's budget is 402 with its own code, and calls no upstream", async () => {
    const question = writeQuestion("open", { max_tokens: 50 });
    const needed = toNano(priceOf({ input: boundInput(question), output: 50 }));
    const caller = await chat.createCaller({ budget: { amount: nano(needed - 20_000_000n), period: "day" } });
    const callsBefore = chat.upstream.requests.length;
    const heard = await askChat(caller, question);
    expect(heard).toMatchObject({ status: 402, error: { code: "key_budget_exceeded" } });
    expect(heard.error?.message).toContain("Raise it by 0.02 USD at http://localhost:4242/console/keys to continue.");
    expect(heard.headers.get("x-should-retry")).toBe("false");
    expect(chat.upstream.requests.length).toBe(callsBefore);
    await expectNothingMoved(caller);
  });

  test("of a frozen or suspended account is 403", async () => {
    const frozen = await chat.createCaller();
    await freezeWallet(chat.gateway.database, frozen.accountId, "test");
    expect(await askChat(frozen, writeQuestion("open"))).toMatchObject({
      status: 403,
      error: { code: "account_suspended" },
    });
    await expectNothingMoved(frozen);
    const suspended = await chat.createCaller();
    await changeAccount(chat.gateway.parts, suspended.accountId, { isSuspended: true });
    const heard = await waitUntil("the suspension to be felt", async () => {
      const answer = await askChat(suspended, writeQuestion("nothing-that-is-there"));
      return answer.status === 403 ? answer : null;
    });
    expect(heard.error?.code).toBe("account_suspended");
    await expectNothingMoved(suspended);
  });

  test("is written before the upstream is called if money may be short", async () => {
    const caller = await chat.createCaller({ cash: "5" });
    script({ text: "Hello", usage: { inputTokens: 100, outputTokens: 20 } });
    const callsBefore = chat.upstream.requests.length;
    const lock = await lockWallet(chat.gateway.database, caller.accountId);
    const answer = askChat(caller, writeQuestion("open"));
    await lock.awaited();
    expect(chat.upstream.requests.length).toBe(callsBefore);
    await lock.free();
    expect(await answer).toMatchObject({ text: "Hello", usage: { charge: "0.14" } });
    expect(await caller.readBalance()).toEqual({ available: "4.86", frozen: "0.00" });
  });

  test.each(ways)(
    "is written while the upstream works if money is plentiful, $way, and nothing is delivered before that",
    async ({ asked }) => {
      const caller = await createKnownCaller("100");
      script({ text: "Hello", usage: { inputTokens: 100, outputTokens: 20 } });
      const lock = await lockWallet(chat.gateway.database, caller.accountId);
      const callsBefore = chat.upstream.requests.length;
      let hasHeard = false;
      const answer = caller.post(writeQuestion("open", asked)).then(async (response) => {
        hasHeard = true;
        return await response.text();
      });
      await lock.awaited();
      await waitUntil("the upstream to have answered", () => chat.upstream.requests[callsBefore]?.headAt ?? null);
      expect(hasHeard).toBe(false);
      await lock.free();
      expect(await answer).toContain('"charge":"0.14"');
      await caller.settled();
      expect((await caller.listCharges()).at(-1)).toMatchObject({ paid: "0.14" });
    },
  );

  describe("that is refused although money seemed plentiful", () => {
    /** Leaves a thousandth, as a call on another gateway might, without this gateway knowing. */
    async function spendElsewhere(database: Database, caller: ChatCaller): Promise<void> {
      const { available } = await caller.readBalance();
      const booking = { kind: "adjust", amount: nano(1_000_000n - toNano(available)) } as const;
      const request = { accountId: caller.accountId, booking, actor: "test", reason: "test", reference: null };
      await bookCredit({ ...chat.gateway.parts, database }, request);
    }

    const refusal = { status: 402, error: { code: "insufficient_balance" } };

    async function expectOnlyTheFirst(caller: ChatCaller): Promise<void> {
      expect(await caller.readBalance()).toEqual({ available: "0.001", frozen: "0.00" });
      expect(await caller.listCharges()).toHaveLength(1);
    }

    test("stops the upstream, and nothing is charged", async () => {
      const caller = await createKnownCaller("100");
      await spendElsewhere(chat.gateway.database, caller);
      script({ beforeHead: chat.upstream.gate() });
      const callsBefore = chat.upstream.requests.length;
      expect(await askChat(caller, writeQuestion("open"))).toMatchObject(refusal);
      // The upstream was stopped, if the call got that far.
      const call = chat.upstream.requests[callsBefore];
      await waitUntil("the upstream to be stopped", () => call === undefined || call.outcome === "aborted");
      await expectOnlyTheFirst(caller);
    });

    test.each(ways)("withholds the upstream's answer, $way, and nothing is charged", async ({ asked }) => {
      const caller = await createKnownCaller("100");
      const lock = await lockWallet(chat.gateway.database, caller.accountId);
      const callsBefore = chat.upstream.requests.length;
      script({ text: "Hello" });
      const answer = askChat(caller, writeQuestion("open", asked));
      await lock.awaited();
      await waitUntil("the upstream to have answered", () => chat.upstream.requests[callsBefore]?.headAt ?? null);
      await lock.free((tx) => spendElsewhere(tx, caller));
      expect(await answer).toMatchObject({ ...refusal, text: "", usage: null });
      await expectOnlyTheFirst(caller);
    });
  });

  test("that is still being written when the caller disconnects does not leave an upstream call running", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    chat.upstream.scriptFor(({ ask }) => ask?.prompt === "I am gone", { beforeHead: gate });
    const lock = await lockWallet(chat.gateway.database, caller.accountId);
    const messages = [{ role: "user", content: "I am gone" }];
    await sendAndLeave(caller, writeQuestion("open", { messages }), () => lock.awaited());
    await lock.free();
    await waitUntil("the hold is written", async () => (await caller.listHolds()).length === 1);
    await expectNothingMoved(caller);
    // Anything sent for the first call has arrived once the second is answered.
    expect((await askChat(await chat.createCaller(), writeQuestion("open"))).status).toBe(200);
    try {
      await waitUntil("no call under way at the upstream", () => chat.upstream.openCalls() === 0, 2000);
    } finally {
      gate.open();
    }
  });
});

/** A caller whose balance the gateway has cached. */
async function createKnownCaller(cash: string): Promise<ChatCaller> {
  const caller = await chat.createCaller({ cash });
  script({ text: "First" });
  expect((await askChat(caller, writeQuestion("open", { max_tokens: 1 }))).status).toBe(200);
  await caller.settled();
  return caller;
}

/** Sends a request, disconnects on a signal, and resolves when the gateway has noticed. */
async function sendAndLeave(caller: ChatCaller, body: string, mayLeave: () => Promise<void>): Promise<void> {
  const socket = connect({ port: chat.gateway.port, host: "127.0.0.1", allowHalfOpen: true });
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: gateway",
    `authorization: Bearer ${caller.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  await mayLeave();
  const ended = once(socket.resume(), "end");
  socket.end();
  await ended;
  await turn();
}

describe("the cap on an answer", () => {
  const longText = Array.from({ length: 100 }, (_, index) => `w${index % 10}`).join(" ");

  test.each(everyWay)(
    "is exactly what the account can pay for $vendor, $way; the answer says why it ended",
    async ({ vendor, asked }) => {
      const question = writeQuestion(`short-${vendor}`, asked);
      // Enough for 35 tokens, and almost for one more.
      const cash = presentMoney(nano(toNano(priceOf({ input: boundInput(question), output: 36 })) - 1n));
      const caller = await chat.createCaller({ cash });
      script({ text: longText, usage: { inputTokens: 20 } });
      const heard = await askChat(caller, question);
      expect(chat.upstream.requests.at(-1)?.ask?.outputTokensMax).toBe(35);
      expect(heard).toMatchObject({ status: 200, finishReasons: ["length"], stoppedBy: "insufficient_balance" });
      expect(heard.usage).toMatchObject({ completion_tokens: 35, charge: priceOf({ input: 20, output: 35 }) });
      await caller.settled();
      expect(await caller.listCharges()).toMatchObject([{ paid: priceOf({ input: 20, output: 35 }), lost: "0.00" }]);
    },
  );

  test("is divided among several choices", async () => {
    const question = writeQuestion("short-open", { n: 2 });
    const caller = await chat.createCaller({ cash: priceOf({ input: boundInput(question), output: 35 }) });
    script({ text: longText });
    const heard = await askChat(caller, question);
    expect(chat.upstream.requests.at(-1)?.ask?.outputTokensMax).toBe(17);
    expect(heard).toMatchObject({ finishReasons: ["length", "length"], stoppedBy: "insufficient_balance" });
  });

  test.each(ways)("that the caller requested is not attributed to money, $way", async ({ asked }) => {
    const question = writeQuestion("open", { max_tokens: 5, ...asked });
    const caller = await chat.createCaller({ cash: priceOf({ input: boundInput(question), output: 5 }) });
    script({ text: longText });
    expect(await askChat(caller, question)).toMatchObject({ finishReasons: ["length"], stoppedBy: null });
    expect(chat.upstream.requests.at(-1)?.ask?.outputTokensMax).toBe(5);
  });

  test.each(ways)(
    "that money lowered is not mentioned, $way, if the answer ended before it was reached",
    async ({ asked }) => {
      const question = writeQuestion("short-open", asked);
      const caller = await chat.createCaller({ cash: priceOf({ input: boundInput(question), output: 35 }) });
      script({ text: "Short" });
      expect(await askChat(caller, question)).toMatchObject({ finishReasons: ["stop"], stoppedBy: null });
    },
  );

  test("is mentioned in the chunk that ends the answer, and in no chunk that arrived with it", async () => {
    const question = writeQuestion("short-open", { stream: true });
    const caller = await chat.createCaller({ cash: priceOf({ input: boundInput(question), output: 35 }) });
    const chunk = (delta: Record<string, string>, reason: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    script({ rawChunks: [`${chunk({ content: "Hi" }, null)}${chunk({}, "length")}data: [DONE]\n\n`] });
    const { bodies } = await askChat(caller, question);
    expect(bodies.map(({ stopped_by }) => stopped_by)).toEqual([undefined, "insufficient_balance"]);
  });
});

describe("a stream that exceeds its hold", () => {
  test.each(vendors)("of %s has its hold extended before it exceeds it, by however many tokens", async (vendor) => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    script({ pieces: writePieces(45), beforePiece: gate, usage: { inputTokens: 20, outputTokens: 45 } });
    const question = writeQuestion(`short-${vendor}`, streamed);
    const answer = await openAnswer(caller, question);
    const readHeld = async () => (await caller.listHolds())[0]?.amount;
    const holdFor = (output: number) => priceOf({ input: boundInput(question), output });
    // Four letters are one token, but might be four. The hold is extended at three quarters.
    gate.release(1);
    await answer.said("abcd");
    expect(await readHeld()).toBe(holdFor(10));
    gate.release(1);
    await waitUntil("the hold to be doubled", async () => (await readHeld()) === holdFor(20));
    gate.release(1);
    await answer.said("abcd".repeat(3));
    expect(await readHeld()).toBe(holdFor(20));
    gate.release(1);
    await waitUntil("the hold to be doubled again", async () => (await readHeld()) === holdFor(40));
    gate.open();
    expect(await answer.ended).toMatchObject({ isDone: true, finishReasons: ["stop"], stoppedBy: null });
    await caller.settled();
    expect(await caller.listCharges()).toMatchObject([{ paid: priceOf({ input: 20, output: 45 }), lost: "0.00" }]);
    expect(await caller.listHolds()).toMatchObject([{ state: "settled", amount: holdFor(320) }]);
    expect((await caller.readBalance()).frozen).toBe("0.00");
  });

  test("never holds more than the requested cap", async () => {
    const caller = await chat.createCaller();
    const question = writeQuestion("short-open", { ...streamed, max_tokens: 17 });
    script({ pieces: writePieces(17) });
    expect(await askChat(caller, question)).toMatchObject({ isDone: true, stoppedBy: null });
    const amount = priceOf({ input: boundInput(question), output: 17 });
    expect(await caller.listHolds()).toMatchObject([{ amount }]);
  });

  test.each(vendors)("and the balance ends when the money runs out, and %s is stopped", async (vendor) => {
    const question = writeQuestion(`short-${vendor}`, streamed);
    const cash = priceOf({ input: boundInput(question), output: 15 });
    const caller = await chat.createCaller({ cash });
    const gate = chat.upstream.gate();
    script({ pieces: writePieces(100), beforePiece: gate, usage: { inputTokens: 50, outputTokens: 9999 } });
    const answer = await openAnswer(caller, question);
    gate.release(15);
    const heard = await answer.ended;
    expect(heard).toMatchObject({
      text: "abcd".repeat(15),
      finishReasons: ["length"],
      stoppedBy: "insufficient_balance",
      isDone: true,
      error: null,
    });
    const input = vendor === "open" ? countTokens("Hello") : 50;
    const paid = priceOf({ input, output: 15 });
    expect(heard.usage).toMatchObject({ prompt_tokens: input, completion_tokens: 15, charge: paid });
    const call = chat.upstream.requests.at(-1);
    await waitUntil("the upstream to be stopped", () => call?.outcome === "aborted");
    await caller.settled();
    expect(await caller.listCharges()).toMatchObject([
      { items: { counted_input_tokens: input, counted_output_tokens: 15 }, paid, lost: "0.00" },
    ]);
    const left = presentMoney(nano(toNano(cash) - toNano(paid)));
    expect(await caller.readBalance()).toEqual({ available: left, frozen: "0.00" });
  });

  test("is stopped by a key's budget as by an empty balance", async () => {
    const question = writeQuestion("short-open", streamed);
    const amount = nano(toNano(priceOf({ input: boundInput(question), output: 12 })));
    const caller = await chat.createCaller({ budget: { amount, period: "total" } });
    const gate = chat.upstream.gate();
    script({ pieces: writePieces(100), beforePiece: gate });
    const answer = await openAnswer(caller, question);
    gate.release(12);
    expect(await answer.ended).toMatchObject({ text: "abcd".repeat(12), stoppedBy: "insufficient_balance" });
    await caller.settled();
    expect(sumPaid(await caller.listCharges())).toBeLessThanOrEqual(amount);
  });

  test("never exceeds the balance, even with twenty streams at once", async () => {
    const question = writeQuestion("short-open", streamed);
    const first = toNano(priceOf({ input: boundInput(question), output: 10 }));
    const cash = 20n * first + toNano(priceOf({ output: 55 }));
    const caller = await chat.createCaller({ cash: presentMoney(nano(cash)) });
    const gate = chat.upstream.gate();
    script(...Array.from({ length: 20 }, () => ({ pieces: writePieces(300), beforePiece: gate })));
    const answers = Array.from({ length: 20 }, () => askChat(caller, question));
    await gate.reached(20);
    gate.open();
    for (const heard of await Promise.all(answers)) {
      expect(heard).toMatchObject({ status: 200, isDone: true, stoppedBy: "insufficient_balance" });
      expect(heard.finishReasons).toEqual(["length"]);
    }
    await caller.settled();
    const charges = await caller.listCharges();
    expect(charges).toHaveLength(20);
    const { available, frozen } = await caller.readBalance();
    expect([sumPaid(charges) + toNano(available), frozen]).toEqual([cash, "0.00"]);
    expect(toNano(available)).toBeGreaterThanOrEqual(0n);
  });

  test("that arrives all at once is delivered as far as the money goes, and no further", async () => {
    const question = writeQuestion("short-open", streamed);
    const caller = await chat.createCaller({ cash: priceOf({ input: boundInput(question), output: 20 }) });
    const chunks = writePieces(60).map(
      (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
    );
    const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
    script({ rawChunks: [`${chunks.join("")}${end}`] });
    const heard = await askChat(caller, question);
    expect(heard).toMatchObject({ isDone: true, stoppedBy: "insufficient_balance", finishReasons: ["length"] });
    expect(countTokens(heard.text)).toBe(20);
    expect(await caller.listCharges()).toMatchObject([{ items: { counted_output_tokens: 20 }, lost: "0.00" }]);
  });

  test("ends each choice once, even one that was complete before the money ran out", async () => {
    const question = writeQuestion("short-open", { ...streamed, n: 2 });
    const caller = await chat.createCaller({ cash: priceOf({ input: boundInput(question), output: 20 }) });
    const chunk = (index: number, content: string, reason: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index, delta: { content }, finish_reason: reason }] })}\n\n`;
    const rest = writePieces(50).map((piece) => chunk(1, piece, null));
    script({ rawChunks: [chunk(0, "Hi", "stop"), ...rest] });
    const heard = await askChat(caller, question);
    expect(heard.stoppedBy).toBe("insufficient_balance");
    expect(heard.finishReasons.toSorted()).toEqual(["length", "stop"]);
  });
});

describe("a refused call", () => {
  test.each<[string, number, string, Record<string, unknown>]>([
    ["for its form", 400, "open", { temperature: "hot" }],
    ["for asking too much", 400, "open", { max_tokens: 1001 }],
    ["for its model", 404, "nobody-has-it", {}],
  ])("%s is not charged, holds nothing and calls no upstream", async (_name, status, model, asked) => {
    const caller = await chat.createCaller();
    const callsBefore = chat.upstream.requests.length;
    expect(await askChat(caller, writeQuestion(model, asked))).toMatchObject({ status });
    expect(chat.upstream.requests.length).toBe(callsBefore);
    expect(await caller.listHolds()).toEqual([]);
    await expectNothingMoved(caller);
  });

  test("by a limit is not charged, holds nothing and calls no upstream", async () => {
    const caller = await chat.createCaller({ limits: { tokensPerMinute: 10 } });
    script({ text: "Hello", usage: { inputTokens: 1000, outputTokens: 500 } });
    expect((await askChat(caller, writeQuestion("open"))).status).toBe(200);
    const callsBefore = chat.upstream.requests.length;
    expect(await askChat(caller, writeQuestion("open"))).toMatchObject({
      status: 429,
      error: { code: "token_limit_exceeded" },
    });
    expect(chat.upstream.requests.length).toBe(callsBefore);
    await caller.settled();
    expect([(await caller.listHolds()).length, await caller.readBalance()]).toEqual([
      1,
      { available: "8.00", frozen: "0.00" },
    ]);
  });

  test("by the upstream as malformed is not charged either", async () => {
    const caller = await chat.createCaller();
    script({ status: 400, error: { param: "temperature" } });
    expect(await askChat(caller, writeQuestion("open"))).toMatchObject({ status: 400 });
    await expectNothingMoved(caller);
  });
});

test("of fifty calls at once with money for ten, ten are served and charged exactly, and forty are 402", async () => {
  const question = writeQuestion("open", { max_tokens: 50 });
  const cash = 10n * toNano(priceOf({ input: boundInput(question), output: 50 }));
  const caller = await chat.createCaller({ cash: presentMoney(nano(cash)) });
  const gate = chat.upstream.gate();
  const behaviour = { text: "Hello", usage: { inputTokens: 50, outputTokens: 20 }, beforeHead: gate };
  script(...Array.from({ length: 50 }, () => behaviour));
  let refused = 0;
  const answers = Array.from({ length: 50 }, async () => {
    const heard = await askChat(caller, question);
    if (heard.status === 402) refused += 1;
    return heard;
  });
  await waitUntil("forty refusals", () => refused === 40);
  // Some reached the upstream while money still seemed plentiful; they were stopped.
  await waitUntil("ten calls at the upstream", () => gate.waitingCount() === 10);
  expect((await caller.readBalance()).available).toBe("0.00");
  gate.open();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  await caller.settled();
  const charges = await caller.listCharges();
  expect(charges.map(({ paid, lost }) => [paid, lost])).toEqual(Array.from({ length: 10 }, () => ["0.09", "0.00"]));
  const { available, frozen } = await caller.readBalance();
  expect([toNano(available), frozen]).toEqual([cash - 10n * toNano("0.09"), "0.00"]);
});

describe("a caller's limits", () => {
  /** Limits do not refill while the clock stands still. */
  async function withStillClock(run: (still: ChatGateway, caller: ChatCaller) => Promise<void>): Promise<void> {
    await using still = await openChatGateway({ catalog: writeCatalog, clock: createTestClock(new Date()) });
    await run(still, await still.createCaller({ limits: { tokensPerMinute: 10_000, concurrentRequests: 1 } }));
  }

  test("return a Retry-After that is estimated from recent call durations when all slots are taken", async () => {
    const clock = createTestClock(new Date());
    await using still = await openChatGateway({ catalog: writeCatalog, clock });
    const caller = await still.createCaller({ limits: { concurrentRequests: 1 } });
    const question = writeQuestion("open", { max_tokens: 100 });
    const begin = async () => {
      const gate = still.upstream.gate();
      still.upstream.script({ beforeHead: gate, text: "Hello" });
      const answer = caller.post(question);
      await gate.reached();
      return { gate, answer };
    };
    const first = await begin();
    clock.advance(8000);
    first.gate.open();
    await (await first.answer).text();
    const second = await begin();
    clock.advance(3000);
    const refused = await caller.post(question);
    expect([refused.status, ((await refused.json()) as { error: object }).error]).toMatchObject([
      429,
      { code: "concurrency_limit_exceeded", message: expect.stringContaining("Retry in 5s.") },
    ]);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "retry-after": "5",
      "retry-after-ms": "5000",
      "x-ratelimit-limit": "1",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "5",
    });
    second.gate.open();
    const answered = await second.answer;
    // The call has freed its slot, so requests are now the tightest limit.
    expect([answered.status, answered.headers.get("x-ratelimit-limit")]).toEqual([200, "600"]);
    await answered.text();
    // A stream occupies its slot while it lasts, and its headers show that.
    still.upstream.script({ text: "Hello" });
    const stream = await caller.post(writeQuestion("open", { max_tokens: 100, stream: true }));
    expect(stream.headers.get("x-ratelimit-limit")).toBe("1");
    expect(stream.headers.get("x-ratelimit-remaining")).toBe("0");
    await stream.text();
  });

  test("count actual usage, and free the slot however a call ends", async () => {
    await withStillClock(async (still, caller) => {
      const readLeft = async () => {
        const response = await still.gateway.get("/balance", caller.key);
        return Number(response.headers.get("x-ratelimit-remaining-tokens"));
      };
      const left = (tokens: number) =>
        waitUntil(`${tokens} tokens to be left`, async () => (await readLeft()) === tokens);
      const question = writeQuestion("open", { max_tokens: 100 });

      still.upstream.script({ text: "Hello", usage: { inputTokens: 100, outputTokens: 20 } });
      expect((await askChat(caller, question)).status).toBe(200);
      await left(9880);

      // A running call counts with its upper bound.
      const gate = still.upstream.gate();
      still.upstream.script({ beforeHead: gate, status: 500 });
      const failing = askChat(caller, question);
      await gate.reached();
      expect(await readLeft()).toBe(9880 - Math.ceil(Buffer.byteLength(question) / 4) - 100);
      expect(await askChat(caller, question)).toMatchObject({
        status: 429,
        error: { code: "concurrency_limit_exceeded" },
      });
      gate.open();
      expect((await failing).status).toBe(503);
      await left(9880);

      const pieceGate = still.upstream.gate();
      still.upstream.script({ pieces: writePieces(5), beforePiece: pieceGate });
      const stream = await openAnswer(caller, writeQuestion("open", { stream: true }));
      pieceGate.release(3);
      await stream.said("abcd".repeat(3));
      stream.hangUp();
      await caller.settled();
      await left(9880 - countTokens("Hello") - 3);

      still.upstream.script({ text: "Hello", usage: { inputTokens: 9000, outputTokens: 0 } });
      expect((await askChat(caller, question)).status).toBe(200);
      await left(875);
    });
  });
});
