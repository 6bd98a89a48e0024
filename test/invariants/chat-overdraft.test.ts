import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nano, parseMoney, presentMoney } from "../../src/lib/money.ts";
import { writeCatalogOf } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { boundInput, priceOf, writeQuestion } from "../harness/chat/hear-chat.ts";
import { countRuns } from "../harness/count-runs.ts";
import { canary, type FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";
import { createWirePace } from "../harness/upstreams/wire-pace.ts";

/** Models of every kind of hold, each with an upstream that writes up to its cap: visibly, or as hidden reasoning. */
const models = {
  "seen-metered": { hold: "metered" },
  "seen-full": { hold: "full" },
  "seen-plain": { hold: undefined, capabilities: ["chat", "streaming"] },
  "hidden-thinker": { hold: undefined },
  "hidden-full": { hold: "full", capabilities: ["chat", "streaming"] },
} as const;
type ModelId = keyof typeof models;
const modelIds = Object.keys(models) as ModelId[];

function writeCatalog(upstream: FakeUpstreams): string {
  return writeCatalogOf(upstream, {
    models: modelIds.map((id) => ({
      id,
      ...models[id],
      usual_output_tokens: 30,
      limits: { context_window: 2000, max_output_tokens: 120 },
      routes: [{ provider: "open", upstream_model: `${canary}-${id}` }],
    })),
  });
}

let chat: ChatGateway;
const pace = createWirePace((port) => String(port) !== new URL(chat.gateway.baseUrl).port);
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeCatalog });
});
afterAll(() => chat[Symbol.asyncDispose]());

type Call = { model: ModelId; isStreamed: boolean; maxTokens: number | null; choices: number; hangsUp: boolean };

const anyCall: fc.Arbitrary<Call> = fc.record({
  model: fc.constantFrom(...modelIds),
  isStreamed: fc.boolean(),
  maxTokens: fc.option(fc.integer({ min: 1, max: 120 })),
  choices: fc.integer({ min: 1, max: 2 }),
  hangsUp: fc.boolean(),
});

const inputTokens = 20;

async function make(caller: ChatCaller, { model, isStreamed, maxTokens, choices, hangsUp }: Call): Promise<void> {
  const question = writeQuestion(model, {
    n: choices,
    ...(isStreamed ? { stream: true } : {}),
    ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
  });
  const leaving = new AbortController();
  const response = await caller.post(question, { signal: leaving.signal });
  if (hangsUp) leaving.abort();
  await response.text().catch(() => null);
}

function isHidden({ model }: { model: string | null }): boolean {
  return model?.startsWith(`${canary}-hidden`) === true;
}

/** The upstream usage, at the account's price: 1.00 and 2.00 for a thousand tokens. */
function sumUsed(from: number): bigint {
  let used = 0n;
  for (const call of chat.upstream.requests.slice(from)) {
    const { ask, bytesWritten, outcome } = call;
    if (ask === null) continue;
    const cap = ask.outputTokensMax * ask.choiceCount;
    // A visible answer that was stopped counts only what the upstream sent.
    const isWhole = isHidden(call) || outcome === "finished";
    const written = isWhole ? cap : Math.min(cap, Math.ceil(bytesWritten / chunkBytesMin));
    used += BigInt(inputTokens) * 1_000_000n + BigInt(written) * 2_000_000n;
  }
  return used;
}

/** No chunk of the fake is smaller. */
const chunkBytesMin = 150;

test("with any concurrent calls, upstreams that write up to their caps never cost more than the balance", async () => {
  const usage = { inputTokens };
  chat.upstream.always({ writesToCap: "seen", usage, beforePiece: pace });
  chat.upstream.alwaysFor(isHidden, { writesToCap: "hidden", usage });
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyCall, { minLength: 2, maxLength: 8 }),
      fc.integer({ min: 1, max: 1_500 }),
      async (calls, thousandths) => {
        const cash = presentMoney(nano(BigInt(thousandths) * 1_000_000n));
        const caller = await chat.createCaller({ cash });
        const from = chat.upstream.requests.length;
        await Promise.allSettled(calls.map((call) => make(caller, call)));
        await chat.upstream.idle();
        await caller.settled();
        expect(sumUsed(from)).toBeLessThanOrEqual(parseMoney(cash) ?? -1n);
        const charges = await caller.listCharges();
        expect(charges.map(({ lost }) => lost)).toEqual(charges.map(() => "0.00"));
      },
    ),
    { numRuns: countRuns(10, 2) },
  );
  expect(chat.gateway.logs.filter(({ lost }) => lost !== undefined)).toEqual([]);
});

test("an upstream that exceeds its own cap is logged, and the account pays no more than its hold", async () => {
  const caller = await chat.createCaller({ cash: "1.00" });
  chat.upstream.scriptFor(
    { model: `${canary}-hidden-thinker` },
    {
      text: "Hello",
      usage: { inputTokens, outputTokens: 5000 },
    },
  );
  const question = writeQuestion("hidden-thinker", { max_tokens: 100 });
  const response = await caller.post(question);
  expect(response.status).toBe(200);
  await response.text();
  await caller.settled();
  const held = priceOf({ input: boundInput(question), output: 100 });
  const overrun = priceOf({ input: inputTokens - boundInput(question), output: 5000 - 100 });
  expect(await caller.listCharges()).toMatchObject([{ paid: held, lost: overrun }]);
  const line = chat.gateway.logs.find(({ level, lost }) => level === "error" && lost === overrun);
  expect(line).toMatchObject({
    upstream: "open",
    model: "hidden-thinker",
    upstream_model: `${canary}-hidden-thinker`,
    output_tokens: 5000,
  });
});
