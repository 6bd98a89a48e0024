import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { askChat, boundInput, priceOf, writeQuestion } from "../../harness/chat/hear-chat.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway();
});
afterAll(() => chat[Symbol.asyncDispose]());

const cap = 100;
const words = Array.from({ length: 3000 }, (_, index) => `word${index % 10} `);
const countWords = (text: string): number => text.split(" ").filter((word) => word !== "").length;
const listWarnings = (message: string) => chat.gateway.logs.filter(({ msg }) => msg === message);

test("a stream that exceeds its cap is stopped at the cap plus 10 %, also at the upstream, and charged the cap", async () => {
  const caller = await chat.createCaller({ cash: "100.00" });
  chat.upstream.script({ pieces: words, usage: null });
  const question = writeQuestion("open", { stream: true, max_tokens: cap });
  const heard = await askChat(caller, question);
  expect(heard).toMatchObject({ status: 200, isDone: true, finishReasons: ["length"], stoppedBy: null });
  expect(countWords(heard.text)).toBeLessThanOrEqual(cap * 1.1);
  expect(countWords(heard.text)).toBeGreaterThanOrEqual(cap);
  await waitUntil("the upstream to be stopped", () => chat.upstream.requests.at(-1)?.outcome === "aborted");
  await caller.settled();
  const [charge] = await caller.listCharges();
  expect(Number(charge?.paid)).toBeGreaterThan(Number(priceOf({ output: cap })));
  expect(Number(charge?.paid)).toBeLessThanOrEqual(Number(priceOf({ input: boundInput(question), output: cap })));
});

test.each([
  ["reported", { outputTokens: 3000 }],
  ["not reported", null],
])("a whole answer that exceeds its cap is cut, its usage %s", async (_name, usage) => {
  const caller = await chat.createCaller({ cash: "100.00" });
  chat.upstream.script({ text: words.join(""), usage });
  const heard = await askChat(caller, writeQuestion("open", { max_tokens: cap }));
  expect(heard).toMatchObject({ status: 200, finishReasons: ["length"], stoppedBy: null });
  expect(countWords(heard.text)).toBeLessThanOrEqual(cap * 1.1);
  expect(countWords(heard.text)).toBeGreaterThan(cap / 3);
});

test.each([
  { path: "/messages", body: { max_tokens: cap, messages: [{ role: "user", content: "Hello" }] } },
  { path: "/responses", body: { max_output_tokens: cap, input: "Hello" } },
  { path: "/completions", body: { max_tokens: cap, prompt: "Hello" } },
])("$path delivers no more than the cap plus 10 % either, whole and streamed", async ({ path, body }) => {
  const caller = await chat.createCaller({ cash: "100.00" });
  for (const stream of [false, true]) {
    chat.upstream.script({ pieces: words, usage: null });
    const headers = { authorization: `Bearer ${caller.key}`, "content-type": "application/json" };
    const response = await chat.fetch(`${chat.gateway.baseUrl}${path}`, {
      ...{ method: "POST", headers, body: JSON.stringify({ model: "open", ...body, stream }) },
    });
    expect(response.status).toBe(200);
    const text = await response.text();
    const written = text.match(/word\d/g)?.length ?? 0;
    // A streamed response repeats its text in the events that end its parts.
    const repeats = stream && path === "/responses" ? 5 : 1;
    expect(written).toBeGreaterThan(cap / 3);
    expect(written).toBeLessThanOrEqual(cap * 1.1 * repeats);
  }
});

test("a warning with the likely fix is logged once an hour per route", async () => {
  const caller = await chat.createCaller({ cash: "100.00" });
  for (const stream of [true, true, false]) {
    chat.upstream.script({ pieces: words });
    const heard = await askChat(caller, writeQuestion("anthropic", { stream, max_tokens: cap }));
    expect(heard).toMatchObject({ status: 200, error: null });
  }
  await caller.settled();
  const warnings = listWarnings("upstream ignored the output cap").filter(({ upstream }) => upstream === "anthropic");
  expect(warnings).toMatchObject([{ model: "anthropic", fix: expect.stringContaining("output_cap_field") }]);
});

test("reported usage far below the delivered text is logged as a warning, and still charged", async () => {
  const caller = await chat.createCaller({ cash: "100.00" });
  chat.upstream.script({ pieces: words.slice(0, 600), usage: { inputTokens: 5, outputTokens: 7 } });
  const heard = await askChat(caller, writeQuestion("open", { stream: true, max_tokens: 1000 }));
  expect(countWords(heard.text)).toBe(600);
  await caller.settled();
  expect((await caller.listCharges()).map(({ paid }) => paid)).toEqual([priceOf({ input: 5, output: 7 })]);
  expect(listWarnings("upstream reported far less output than it delivered")).toMatchObject([{ upstream: "open" }]);
});

test("an answer within its cap is delivered whole, also in a script with one character per token", async () => {
  const caller = await chat.createCaller({ cash: "100.00" });
  const text = "灯塔在黄昏时分照亮平静的海面。".repeat(10);
  const pieces = text.match(/.{1,2}/gu) ?? [];
  chat.upstream.script({ pieces, usage: null }, { text, usage: { outputTokens: pieces.length } });
  for (const stream of [true, false]) {
    const heard = await askChat(caller, writeQuestion("open", { stream, max_tokens: pieces.length }));
    expect(heard).toMatchObject({ text, finishReasons: ["stop"] });
  }
});
