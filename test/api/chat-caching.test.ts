// @module-tag slow
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runAgents } from "../harness/chat/agent-run.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { listKeys, writeKeyedCatalog } from "../harness/chat/keyed-catalog.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { createVendorCaches } from "../harness/upstreams/vendor-caches.ts";

/** Well within the five minutes for which vendors cache a prompt. */
const workMs = 60_000;
const hourMs = 60 * 60 * 1000;

let clock: TestClock;
let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  Object.assign(process.env, listKeys());
  clock = createTestClock();
  chat = await openChatGateway({ catalog: writeKeyedCatalog, clock, countPrompt: createVendorCaches(clock) });
});
// Each test starts without the failures and cached prompts of the previous one.
beforeEach(async () => {
  clock.advance(2 * hourMs);
  caller = await chat.createCaller({ cash: "100000" });
});
afterAll(() => chat[Symbol.asyncDispose]());

/** The upstream key of the last call. */
function lastKey(): string | null {
  return chat.upstream.requests.at(-1)?.apiKey ?? null;
}

type Body = Record<string, unknown>;

async function ask(body: Body, headers: Record<string, string> = {}): Promise<Body> {
  const response = await caller.post({ messages: [{ role: "user", content: "Hello" }], ...body }, { headers });
  expect(response.status).toBe(200);
  // Gives the charges a defined order.
  clock.advance(1000);
  return (await response.json()) as Body;
}

describe("agents spread over ten keys read at least 95 % of the cached tokens that one key would give", () => {
  test.each(["open", "claude"])("%s", async (vendor) => {
    const talk = { conversations: 5, turns: 14, openingChars: 8000, turnChars: 4000 };
    const work = () => clock.advance(workMs);
    const one = await runAgents(caller, { model: `one-${vendor}`, talk, work });
    const ten = await runAgents(caller, { model: `ten-${vendor}`, talk, work });
    expect(one.cachedTokens / one.inputTokens).toBeGreaterThan(0.8);
    expect(ten.cachedTokens / one.cachedTokens).toBeGreaterThanOrEqual(0.95);
  });
});

describe("calls of one conversation use one upstream key", () => {
  /** The upstream keys that such calls use. */
  async function listUsedKeys(count: number, call: (at: number) => Promise<unknown>): Promise<Set<string | null>> {
    const keys = new Set<string | null>();
    for (let at = 0; at < count; at += 1) {
      await call(at);
      keys.add(lastKey());
    }
    return keys;
  }
  const say = (at: number) => ({ model: "ten-open", messages: [{ role: "user", content: `Question ${at}` }] });

  test.each<[string, Body, Record<string, string>]>([
    ["prompt_cache_key", { prompt_cache_key: "agent-1" }, {}],
    ["user", { user: "u1" }, {}],
    ["metadata.user_id", { metadata: { user_id: "u1" } }, {}],
    ["x-session-id", {}, { "x-session-id": "s1" }],
    ["session_id", {}, { session_id: "s1" }],
  ])("when the conversation has a name: %s", async (_name, fields, headers) => {
    expect((await listUsedKeys(6, (at) => ask({ ...say(at), ...fields }, headers))).size).toBe(1);
  });

  test("and calls of other conversations are spread, also those of another account with the same name", async () => {
    // The probability that all 24 use fewer than three of ten keys is one in ten million.
    expect((await listUsedKeys(24, (at) => ask(say(at)))).size).toBeGreaterThanOrEqual(3);
    const keys = await listUsedKeys(24, async () => {
      caller = await chat.createCaller();
      await ask({ ...say(0), prompt_cache_key: "default" });
    });
    expect(keys.size).toBeGreaterThanOrEqual(3);
  });

  test("until the key fails, and again after it recovers", async () => {
    await ask(say(0));
    const apiKey = lastKey() ?? "";
    chat.upstream.scriptFor({ apiKey }, { status: 429, headers: { "retry-after": "30" } });
    await ask(say(0));
    const next = lastKey();
    expect(next).not.toBe(apiKey);
    expect([...(await listUsedKeys(3, () => ask(say(0))))]).toEqual([next]);
    clock.advance(hourMs);
    expect([...(await listUsedKeys(3, () => ask(say(0))))]).toEqual([apiKey]);
  });
});

test("prompt_cache_key reaches an upstream that uses OpenAI's format", async () => {
  await ask({ model: "one-open", prompt_cache_key: "agent-1" });
  expect(chat.upstream.requests.at(-1)?.json).toMatchObject({ prompt_cache_key: "agent-1" });
});

describe("a cache write is charged by its lifetime, and the charge is explained", () => {
  const long = "A long text. ".repeat(1000);
  const marked = (ttl: string) => ({
    model: "one-claude",
    messages: [
      { role: "system", content: [{ type: "text", text: long, cache_control: { type: "ephemeral", ttl } }] },
      { role: "user", content: "Hello" },
    ],
  });

  /** The last charge with its explanation and its hold. */
  async function explainLast(): Promise<{
    items: [string, number, string][];
    charge: string;
    saving: unknown;
    held: string;
  }> {
    await caller.settled();
    const read = async (path: string) => {
      const headers = { authorization: `Bearer ${caller.key}` };
      return (await (await chat.fetch(`${chat.gateway.baseUrl}${path}`, { headers })).json()) as Body;
    };
    const [{ id } = { id: "" }] = (await read("/charges?limit=1")).data as { id: string }[];
    const explained = await read(`/charges/${id}`);
    const items = explained.items as { name: string; quantity: number; rate: string }[];
    return {
      items: items.map(({ name, quantity, rate }) => [name, quantity, rate]),
      charge: String(explained.charge),
      saving: explained.cache_saving,
      held: String(explained.held),
    };
  }

  test.each([
    ["5m", "cache_write_5m_tokens", "1.25"],
    ["1h", "cache_write_1h_tokens", "2.00"],
  ])("%s", async (ttl, name, rate) => {
    const first = (await ask(marked(ttl))).usage as { charge: string; prompt_tokens: number };
    const written = await explainLast();
    const [, , line] = written.items;
    expect(line).toEqual([name, expect.any(Number), rate]);
    expect(written.charge).toBe(first.charge);
    expect(written.saving).toBeUndefined();
    // More could have been written than was.
    expect(Number(written.held)).toBeGreaterThan((Number(rate) * first.prompt_tokens) / 1000);

    const second = (await ask(marked(ttl))).usage as { charge: string; cache_saving: string };
    const again = await explainLast();
    expect(again.items[1]).toEqual(["cached_input_tokens", line?.[1], "0.10"]);
    expect(Number(again.saving)).toBeCloseTo((0.9 * (line?.[1] ?? 0)) / 1000, 9);
    expect(again).toMatchObject({ charge: second.charge, saving: second.cache_saving });
    expect(Number(second.charge)).toBeLessThan(Number(first.charge) / 5);
  });

  test.each([
    ["messages", { messages: [{ role: "user", content: "Hello" }], max_tokens: 100 }],
    ["responses", { input: "Hello" }],
  ])("%s reports cache savings the same way as chat", async (path, asked) => {
    chat.upstream.script({ usage: { inputTokens: 100, cachedInputTokens: 60 } });
    const answer = await chat.fetch(`${chat.gateway.baseUrl}/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "one-claude", ...asked }),
    });
    const { usage } = (await answer.json()) as { usage: { charge: string; cache_saving: string } };
    expect(Number(usage.cache_saving)).toBeGreaterThan(0);
    expect(await explainLast()).toMatchObject({ charge: usage.charge, saving: usage.cache_saving });
  });

  test("an hour-long cache write is not charged unless it was requested, whatever the vendor reports", async () => {
    const usage = { inputTokens: 100, cacheWriteTokens: 60, cacheWrite1hTokens: 50 };
    chat.upstream.script({ usage });
    await ask({ model: "one-claude" });
    expect((await explainLast()).items).toEqual([
      ["input_tokens", 40, "1.00"],
      ["cached_input_tokens", 0, "0.10"],
      ["cache_write_5m_tokens", 60, "1.25"],
      ["output_tokens", expect.any(Number), "5.00"],
    ]);
  });
});
