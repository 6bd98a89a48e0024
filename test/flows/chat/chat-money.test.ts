import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { changeAccount } from "../../../src/app/change-account.ts";
import { createPlan } from "../../../src/features/accounts/index.ts";
import { countTokens } from "../../../src/lib/token-meter.ts";
import { upstreamKeyName, writeCatalogOf, writePrice } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { askChat, boundInput, openAnswer, priceOf, writeQuestion } from "../../harness/chat/hear-chat.ts";
import { type Behaviour, canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const vendors = ["open", "anthropic", "google"] as const;
const upstreamModels = { open: `${canary}-open`, anthropic: `${canary}-claude`, google: `${canary}-gemini` };
const ways = [
  { way: "whole", asked: {} },
  { way: "streamed", asked: { stream: true, stream_options: { include_usage: true } } },
] as const;
const everyWay = vendors.flatMap((vendor) => ways.map((one) => ({ vendor, ...one })));

type Fields = Record<string, unknown>;

/** Each failing model is separate: a failing upstream opens its circuit, which must not affect other tests. */
function listModels(): Fields[] {
  const broken = ["status", "reset", "cut", "malformed", "mid-cut", "mid-error"].flatMap((fault) =>
    vendors.map((vendor) => ({
      id: `${vendor}-${fault}`,
      routes: [
        { provider: vendor, upstream_model: `${upstreamModels[vendor]}-${fault}`, priority: 0 },
        { provider: "spare", upstream_model: `${canary}-spare`, priority: 1 },
      ],
    })),
  );
  const priced = ["minimum", "by-call", "free", "plan-priced", "changing", "dear"].map((id) => ({
    id,
    routes: [{ provider: "open", upstream_model: upstreamModels.open }],
  }));
  const hopeless = {
    id: "hopeless",
    routes: ["first", "second"].map((name) => ({ provider: "open", upstream_model: `${canary}-${name}` })),
  };
  const plain = vendors.map((id) => ({ id, routes: [{ provider: id, upstream_model: upstreamModels[id] }] }));
  const tiered = {
    id: "tiered",
    extra_parameters: ["service_tier"],
    routes: [{ provider: "open", upstream_model: upstreamModels.open }],
  };
  return [...plain, ...broken, ...priced, hopeless, tiered];
}

/** Everything costs the same unless a price is given. */
function writeCatalog(upstream: FakeUpstreams, prices: readonly Fields[] = []): string {
  const models = listModels();
  const special: Fields[] = [
    writePrice("minimum", { minimum_charge: "0.75" }),
    { model: "by-call", billing_type: "per_call", unit: "call", price: "0.25" },
    writePrice("free", { input_price: "0", cached_input_price: "0", output_price: "0" }),
    writePrice("dear", { input_price: "1", output_price: "20000" }),
    ...prices,
  ];
  const specialIds = new Set(special.map(({ model }) => model));
  const usual = models.filter(({ id }) => !specialIds.has(id)).map(({ id }) => writePrice(String(id)));
  const spare = { id: "spare", kind: "openai-compatible", base_url: upstream.openAiUrl };
  return writeCatalogOf(upstream, {
    models,
    providers: [{ ...spare, api_keys: [`\${${upstreamKeyName}}`] }],
    prices: [...usual, ...special],
  });
}

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: (upstream) => writeCatalog(upstream) });
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

/** Nothing was charged, nothing is on hold, and the balance is unchanged. */
async function expectUncharged(caller: ChatCaller, cash = "10.00"): Promise<void> {
  await caller.settled();
  expect(await caller.listCharges()).toEqual([]);
  expect(await caller.readBalance()).toEqual({ available: cash, frozen: "0.00" });
}

/** The only charge, once nothing is on hold. */
async function readOnlyCharge(caller: ChatCaller) {
  await caller.settled();
  const charges = await caller.listCharges();
  expect(charges).toHaveLength(1);
  const [charge] = charges;
  if (charge === undefined) throw new Error("There is no charge.");
  return charge;
}

describe("a complete answer", () => {
  const usage = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 5 };

  test.each(everyWay)("by $vendor, $way, costs exactly the reported usage and says so", async ({ vendor, asked }) => {
    const caller = await chat.createCaller();
    script({ text: "Hello there", usage });
    const heard = await askChat(caller, writeQuestion(vendor, asked));
    expect(heard.usage).toMatchObject({
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 5 },
      charge: "0.12",
    });
    expect(await readOnlyCharge(caller)).toMatchObject({
      items: { input_tokens: 60, cached_input_tokens: 40, output_tokens: 20 },
      paid: priceOf({ input: 100, cached: 40, output: 20 }),
      lost: "0.00",
    });
    expect(await caller.listHolds()).toMatchObject([{ state: "settled", settled: "0.12" }]);
    expect(await caller.readBalance()).toEqual({ available: "9.88", frozen: "0.00" });
  });

  test.each(vendors)("by %s as a stream is charged, even if the caller did not request usage", async (vendor) => {
    const caller = await chat.createCaller();
    script({ text: "Hello there", usage });
    const heard = await askChat(caller, writeQuestion(vendor, { stream: true }));
    expect(heard).toMatchObject({ text: "Hello there", isDone: true, usage: null });
    expect(heard.bodies.every((body) => !("usage" in body))).toBe(true);
    expect(await readOnlyCharge(caller)).toMatchObject({ items: { output_tokens: 20 }, paid: "0.12" });
  });

  test("with several choices holds money for each, and costs the usage reported for all", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    script({ beforeHead: gate, usage: { inputTokens: 10, outputTokens: 33 } });
    const question = writeQuestion("open", { n: 3, max_tokens: 50 });
    const answer = askChat(caller, question);
    await gate.reached();
    const held = priceOf({ input: boundInput(question), output: 3 * 50 });
    expect(await caller.listHolds()).toMatchObject([{ state: "open", amount: held }]);
    expect(chat.upstream.requests.at(-1)?.ask).toMatchObject({ choiceCount: 3, outputTokensMax: 50 });
    gate.open();
    expect(await answer).toMatchObject({ finishReasons: ["stop", "stop", "stop"], usage: { charge: "0.076" } });
    expect(await readOnlyCharge(caller)).toMatchObject({ paid: priceOf({ input: 10, output: 33 }) });
  });

  test.each(ways)(
    "that used more than was on hold, $way, costs the hold, and the operator pays the rest",
    async ({ asked }) => {
      const question = writeQuestion("open", { max_tokens: 10, ...asked });
      const held = priceOf({ input: boundInput(question), output: 10 });
      for (const cash of [held, "10.00"]) {
        const caller = await chat.createCaller({ cash });
        script({ text: "Hello", usage: { inputTokens: 1000, outputTokens: 3000 } });
        expect(await askChat(caller, question)).toMatchObject({ usage: { charge: held, prompt_tokens: 1000 } });
        const { paid, lost, items } = await readOnlyCharge(caller);
        expect([paid, Number(paid) + Number(lost)]).toEqual([held, 7]);
        expect(items).toMatchObject({ input_tokens: 1000, output_tokens: 3000 });
        expect((await caller.readBalance()).frozen).toBe("0.00");
      }
      expect(chat.gateway.logs).toContainEqual(
        expect.objectContaining({ level: "error", msg: "upstream usage exceeded the hold" }),
      );
    },
  );

  test.each(ways)("that read far more than was sent, $way, is charged for it", async ({ asked }) => {
    const caller = await chat.createCaller({ cash: "1000" });
    script({ text: "Found it", usage: { inputTokens: 115_886, outputTokens: 5 } });
    const question = writeQuestion("open", asked);
    expect(await askChat(caller, question)).toMatchObject({ usage: { prompt_tokens: 115_886 } });
    expect(await readOnlyCharge(caller)).toMatchObject({ items: { input_tokens: 115_886 } });
  });
});

describe("a caller without a key who disconnects", () => {
  const pieces = ["abcd", "efgh", "ijkl", "mnop", "qrst"];
  // Two vendors report the input tokens at the start.
  const readTokens = { open: countTokens("Hello"), anthropic: 50, google: 50 };

  test.each(vendors)("pays for what %s had written until then, and stops it", async (vendor) => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    script({ pieces, beforePiece: gate, usage: { inputTokens: 50, outputTokens: 500 } });
    const answer = await openAnswer(caller, writeQuestion(vendor, { stream: true }));
    gate.release(3);
    await answer.said("abcdefghijkl");
    answer.hangUp();
    const call = chat.upstream.requests.at(-1);
    await waitUntil("the upstream to be stopped", () => call?.outcome === "aborted");
    expect(await readOnlyCharge(caller)).toMatchObject({
      items: { counted_input_tokens: readTokens[vendor], cached_input_tokens: 0, counted_output_tokens: 3, hung_up: 1 },
      paid: priceOf({ input: readTokens[vendor], output: 3 }),
    });
    expect((await caller.readBalance()).frozen).toBe("0.00");
  });

  /** Disconnects when the upstream has come this far, and resolves when the upstream has been stopped. */
  async function leaveAt(
    caller: ChatCaller,
    vendor: string,
    behaviour: Behaviour,
    gate: ReturnType<FakeUpstreams["gate"]>,
  ) {
    script(behaviour);
    const controller = new AbortController();
    const answer = caller.post(writeQuestion(vendor, { stream: true }), { signal: controller.signal });
    const lost = answer.then((response) => response.text()).catch(() => null);
    await gate.reached();
    // The head is sent together with the hold.
    await answer;
    await waitUntil("the hold", async () => (await caller.listHolds()).length === 1);
    controller.abort();
    await lost;
    const call = chat.upstream.requests.at(-1);
    await waitUntil("the upstream to be stopped", () => call?.outcome === "aborted");
  }

  test.each(vendors)("before the first word of %s, which has accepted, pays for the input", async (vendor) => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    await leaveAt(caller, vendor, { beforePiece: gate, usage: { inputTokens: 50 } }, gate);
    const { items } = await readOnlyCharge(caller);
    expect(items).toMatchObject({ hung_up: 1 });
    expect(items.counted_input_tokens ?? items.input_tokens).toBeGreaterThan(0);
  });

  test("pays the cached price for cached input, as for a complete answer", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    script({ pieces, beforePiece: gate, usage: { inputTokens: 50, cachedInputTokens: 40 } });
    const answer = await openAnswer(caller, writeQuestion("anthropic", { stream: true }));
    gate.release();
    await answer.said("abcd");
    answer.hangUp();
    expect(await readOnlyCharge(caller)).toMatchObject({ paid: priceOf({ input: 50, cached: 40, output: 1 }) });
  });
});

describe("an upstream that fails", () => {
  const faults: { fault: string; behaviour: Behaviour }[] = [
    { fault: "status", behaviour: { status: 500 } },
    { fault: "reset", behaviour: { isReset: true } },
    { fault: "cut", behaviour: { cut: "after-head" } },
    { fault: "malformed", behaviour: { isMalformed: true } },
  ];
  // A stream in OpenAI's format begins with a role: malformed data after it comes too late for another route.
  const everyFault = everyWay.flatMap((one) =>
    faults.filter(({ fault }) => fault !== "malformed" || one.way === "whole").map((fault) => ({ ...one, ...fault })),
  );

  test.each(everyFault)("$vendor, $way, by $fault, is replaced by the next, and one answer is charged", async (one) => {
    const caller = await chat.createCaller();
    script(one.behaviour, { text: "From the other", usage: { inputTokens: 100, outputTokens: 20 } });
    const heard = await askChat(caller, writeQuestion(`${one.vendor}-${one.fault}`, one.asked));
    expect(heard).toMatchObject({ status: 200, text: "From the other", usage: { charge: "0.14" }, error: null });
    expect(chat.upstream.requests.at(-1)?.model).toBe(`${canary}-spare`);
    expect(await readOnlyCharge(caller)).toMatchObject({ paid: "0.14", items: { output_tokens: 20 } });
    expect(await caller.readBalance()).toEqual({ available: "9.86", frozen: "0.00" });
    expect(await caller.listHolds()).toHaveLength(1);
  });

  test.each(ways)("on every route before the first data, $way, costs nothing", async ({ asked }) => {
    const caller = await chat.createCaller();
    script({ status: 500 }, { isReset: true });
    const callsBefore = chat.upstream.requests.length;
    const heard = await askChat(caller, writeQuestion("hopeless", asked));
    expect(chat.upstream.requests.length - callsBefore).toBe(2);
    expect(heard).toMatchObject({ status: 503, error: { code: "upstream_unavailable" }, text: "" });
    await expectUncharged(caller);
    expect(await caller.listHolds()).toMatchObject([{ state: "released" }]);
  });

  const breaks: { fault: string; behaviour: Behaviour }[] = [
    { fault: "mid-cut", behaviour: { cut: { afterPieces: 2 } } },
    { fault: "mid-error", behaviour: { errorAfterPieces: 2 } },
  ];
  const everyBreak = vendors.flatMap((vendor) => breaks.map((one) => ({ vendor, ...one })));

  test.each(everyBreak)("$vendor by $fault: the caller pays the delivered part and gets an error", async (one) => {
    const caller = await chat.createCaller();
    const usage = { inputTokens: 50, outputTokens: 500 };
    script({ pieces: ["abcd", "efgh", "ijkl"], usage, ...one.behaviour });
    const heard = await askChat(caller, writeQuestion(`${one.vendor}-${one.fault}`, ways[1].asked));
    expect(heard).toMatchObject({ status: 200, text: "abcdefgh", isDone: false, usage: null });
    expect(heard.error).toMatchObject({ code: "upstream_unavailable" });
    expect(heard.bodies.at(-1)).toHaveProperty("error");
    const input = one.vendor === "open" ? countTokens("Hello") : 50;
    expect(await readOnlyCharge(caller)).toMatchObject({
      items: { counted_input_tokens: input, counted_output_tokens: 2 },
      paid: priceOf({ input, output: 2 }),
    });
    expect((await caller.readBalance()).frozen).toBe("0.00");
  });
});

describe("an empty answer", () => {
  const usage = { inputTokens: 100, outputTokens: 7 };
  const paid = priceOf({ input: 100, output: 7 });

  test.each(everyWay)("of $vendor, $way, costs the reported usage", async ({ vendor, asked }) => {
    const caller = await chat.createCaller();
    script({ text: "", usage });
    expect(await askChat(caller, writeQuestion(vendor, asked))).toMatchObject({ text: "", usage: { charge: paid } });
    expect(await readOnlyCharge(caller)).toMatchObject({ items: { input_tokens: 100, output_tokens: 7 }, paid });
  });

  test.each(everyWay.filter(({ vendor }) => vendor !== "anthropic"))(
    "and without usage of $vendor, $way, costs nothing",
    async ({ vendor, asked }) => {
      const caller = await chat.createCaller();
      script({ text: "", usage: null });
      const heard = await askChat(caller, writeQuestion(vendor, asked));
      expect(heard).toMatchObject({ status: 200, text: "", usage: { charge: "0.00" } });
      await expectUncharged(caller);
      expect(await caller.listHolds()).toMatchObject([{ state: "released" }]);
    },
  );

  const message = (content: unknown) => ({ index: 0, message: { role: "assistant", content }, finish_reason: "stop" });
  const chunk = (delta: Fields, reason: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;

  test.each<[string, Behaviour, Fields]>([
    ["content that is null", { body: JSON.stringify({ choices: [message(null)] }) }, {}],
    ["no content at all", { body: JSON.stringify({ choices: [message(undefined)] }) }, {}],
    [
      "only a role, and an end",
      { rawChunks: [chunk({ role: "assistant" }, null), chunk({}, "stop"), "data: [DONE]\n\n"] },
      { stream: true },
    ],
    [
      "empty pieces",
      { rawChunks: [chunk({ content: "" }, null), chunk({ content: "" }, "stop"), "data: [DONE]\n\n"] },
      { stream: true },
    ],
  ])("and without usage that has %s costs nothing", async (_name, behaviour, asked) => {
    const caller = await chat.createCaller();
    script(behaviour);
    expect(await askChat(caller, writeQuestion("open", asked))).toMatchObject({ status: 200, text: "" });
    await expectUncharged(caller);
  });

  test("with a tool call is an answer, and is charged", async () => {
    const caller = await chat.createCaller();
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    script({ toolCalls: [{ name: "look", fragments: ["{}"] }], usage });
    await askChat(caller, writeQuestion("open", { tools }));
    expect(await readOnlyCharge(caller)).toMatchObject({ paid: priceOf({ input: 100, output: 7 }) });
  });
});

describe("missing or impossible usage", () => {
  const text = "The quick brown fox jumps over the lazy dog.";
  const counted = {
    items: { counted_input_tokens: countTokens("Hello"), counted_output_tokens: countTokens(text) },
    paid: priceOf({ input: countTokens("Hello"), output: countTokens(text) }),
  };

  test.each(everyWay.filter(({ vendor }) => vendor !== "anthropic"))(
    "by $vendor, $way, is replaced by our own count",
    async ({ vendor, asked }) => {
      const caller = await chat.createCaller();
      script({ text, usage: null });
      const heard = await askChat(caller, writeQuestion(vendor, asked));
      const usage = { prompt_tokens: countTokens("Hello"), completion_tokens: countTokens(text), charge: counted.paid };
      expect(heard).toMatchObject({ text, usage });
      expect(await readOnlyCharge(caller)).toMatchObject(counted);
    },
  );

  test.each(ways)("by Anthropic, which always reports it, $way, is a malformed answer", async ({ asked }) => {
    const caller = await chat.createCaller();
    script({ text, usage: null });
    expect(await askChat(caller, writeQuestion("anthropic", asked))).toMatchObject({
      text: "",
      error: { code: "upstream_unavailable" },
    });
    await expectUncharged(caller);
  });

  const good = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const lies = [
    ["a negative input", { ...good, prompt_tokens: -1 }],
    ["a negative output", { ...good, completion_tokens: -5 }],
    ["a fraction", { ...good, completion_tokens: 5.5 }],
    ["more than there can be", { ...good, completion_tokens: 1e18 }],
    ["texts", { ...good, completion_tokens: "5" }],
    ["no object", 17],
    ["a list", [10, 5]],
    ["nothing in it", {}],
  ] as const;
  test.each(lies.flatMap(([name, said]) => ways.map((one) => ({ name, said, ...one }))))(
    "for $name, $way, is replaced by our own count",
    async ({ said, asked }) => {
      const caller = await chat.createCaller();
      script({ text, vendorUsage: said });
      expect(await askChat(caller, writeQuestion("open", asked))).toMatchObject({ text });
      expect(await readOnlyCharge(caller)).toMatchObject(counted);
    },
  );

  test("with more cached than total input counts all of the input as cached", async () => {
    const caller = await chat.createCaller();
    const vendorUsage = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 500 } };
    script({ text, vendorUsage });
    await askChat(caller, writeQuestion("open"));
    expect(await readOnlyCharge(caller)).toMatchObject({ paid: priceOf({ input: 100, cached: 100, output: 5 }) });
  });

  const foreignLies = [
    ["anthropic", { input_tokens: -10, output_tokens: -5 }],
    ["anthropic", { input_tokens: 10.5, output_tokens: 5.5 }],
    ["google", { promptTokenCount: -10, candidatesTokenCount: -5, totalTokenCount: 0 }],
    ["google", { promptTokenCount: 10.5, candidatesTokenCount: 5.5, totalTokenCount: 16 }],
  ] as const;
  test.each(foreignLies.flatMap(([vendor, said]) => ways.map((one) => ({ vendor, said, ...one }))))(
    "$vendor reporting $said, $way, is not believed either",
    async ({ vendor, said, asked }) => {
      const caller = await chat.createCaller();
      script({ text, vendorUsage: said });
      expect(await askChat(caller, writeQuestion(vendor, asked))).toMatchObject({ text });
      expect(await readOnlyCharge(caller)).toMatchObject(counted);
    },
  );

  test.each([
    ["anthropic", { input_tokens: 10, output_tokens: 1e13 }],
    ["google", { promptTokenCount: 10, candidatesTokenCount: 1e13, totalTokenCount: 1e13 }],
    ["dear", { ...good, completion_tokens: 1e9 }],
  ])("%s reporting more than any amount can pay leaves no hold open and fails no answer", async (model, said) => {
    const caller = await chat.createCaller({ cash: "100000" });
    script({ text, vendorUsage: said });
    expect(await askChat(caller, writeQuestion(model))).toMatchObject({ status: 200, text });
    await caller.settled();
  });
});

describe("a price", () => {
  const usage = { inputTokens: 100, outputTokens: 20 };

  async function pay(model: string, caller: ChatCaller, asked: Fields = {}): Promise<string | undefined> {
    script({ text: "Hello", usage });
    const heard = await askChat(caller, writeQuestion(model, asked));
    expect(heard.status).toBe(200);
    await caller.settled();
    const charges = await caller.listCharges();
    expect(heard.usage?.charge).toBe(charges.at(-1)?.paid ?? "0.00");
    return heard.usage?.charge;
  }

  test("has a minimum that every answer costs at least", async () => {
    const caller = await chat.createCaller();
    expect(await pay("minimum", caller)).toBe("0.75");
    script({ text: "Hello", usage: { inputTokens: 1000, outputTokens: 20 } });
    expect(await askChat(caller, writeQuestion("minimum"))).toMatchObject({ usage: { charge: "1.04" } });
    script({ text: "", usage: null });
    expect(await askChat(caller, writeQuestion("minimum"))).toMatchObject({ usage: { charge: "0.00" } });
  });

  test("per call is the same for any length, whole and streamed, and is the whole hold", async () => {
    const caller = await chat.createCaller({ cash: "0.75" });
    expect(await pay("by-call", caller)).toBe("0.25");
    script({ pieces: Array.from({ length: 400 }, () => "abcdefgh") });
    const heard = await askChat(caller, writeQuestion("by-call", { stream: true }));
    expect(heard).toMatchObject({ isDone: true, stoppedBy: null, finishReasons: ["stop"] });
    const charges = await caller.listCharges();
    expect(charges.map(({ items, paid }) => [items, paid])).toEqual([
      [{ calls: 1 }, "0.25"],
      [{ calls: 1 }, "0.25"],
    ]);
    expect((await caller.listHolds()).map(({ amount }) => amount)).toEqual(["0.25", "0.25"]);
  });

  test.each(ways)("of zero needs no money, $way, and leaves no trace in the ledger", async ({ asked }) => {
    const caller = await chat.createCaller({ cash: "0" });
    script({ text: "Hello", usage });
    expect(await askChat(caller, writeQuestion("free", asked))).toMatchObject({
      text: "Hello",
      usage: { prompt_tokens: 100, completion_tokens: 20, charge: "0.00" },
    });
    expect([await caller.listHolds(), await caller.listCharges()]).toEqual([[], []]);
  });

  test("of an account takes precedence over its plan's, and both over the default", async () => {
    await createPlan(chat.gateway.parts, {
      id: "cheap",
      name: "Cheap",
      limits: {},
      period: "month",
      quotas: { text: 0n, image: 0n, video: 0n },
    });
    const anybody = await chat.createCaller();
    const inPlan = await chat.createCaller({ planId: "cheap" });
    const special = await chat.createCaller({ planId: "cheap" });
    const prices = [
      writePrice("plan-priced", { plan: "cheap", output_price: "1.00" }),
      writePrice("plan-priced", { account: special.accountId, output_price: "0.10" }),
    ];
    await chat.applyCatalog(writeCatalog(chat.upstream, [writePrice("plan-priced"), ...prices]));
    expect(await pay("plan-priced", anybody)).toBe("0.14");
    expect(await pay("plan-priced", inPlan)).toBe("0.12");
    expect(await pay("plan-priced", special)).toBe("0.102");
  });

  test.each(ways)(
    "with tiers, service tiers and a multiplier, $way, is exact, within the hold, and explained",
    async ({ asked }) => {
      const caller = await chat.createCaller();
      const items = [
        { item: "input", above_input_tokens: 90, price: "2000" },
        { item: "output", above_input_tokens: 90, price: "4000" },
        { item: "call", price: "0.01" },
      ];
      const terms = { unit: "1M tokens", input_price: "1000", cached_input_price: "500", output_price: "2000", items };
      const price = writePrice("tiered", { ...terms, service_tiers: { flex: "0.5" } });
      const multipliers = `multipliers: [{ account: ${caller.accountId}, model: tiered, factor: "0.9" }]\n`;
      await chat.applyCatalog(writeCatalog(chat.upstream, [price]) + multipliers);
      // (100 × 2.00 + 20 × 4.00) / 1000 + 0.01, × 0.9
      expect(await pay("tiered", caller, asked)).toBe("0.261");
      expect(await pay("tiered", caller, { ...asked, service_tier: "flex" })).toBe("0.1305");
      const [first, second] = await caller.listCharges();
      expect([first?.lost, second?.lost]).toEqual(["0.00", "0.00"]);
      const list = (await (await chat.gateway.get("/charges", caller.key)).json()) as { data: { id: string }[] };
      const explained = await (await chat.gateway.get(`/charges/${list.data[0]?.id}`, caller.key)).json();
      expect(explained).toMatchObject({
        ...{ charge: "0.1305", priced_by: { multiplier: "0.9", service_tier: "flex" } },
        items: [
          { name: "input_tokens", quantity: 100, rate: "0.90", per: 1000, amount: "0.09" },
          { name: "cached_input_tokens", quantity: 0, rate: "0.225" },
          { name: "output_tokens", quantity: 20, rate: "1.80", amount: "0.036" },
          { name: "calls", quantity: 1, rate: "0.0045", per: 1, amount: "0.0045" },
        ],
      });
      const prices = (await (await chat.gateway.get("/pricing/models", caller.key)).json()) as { data: Fields[] };
      expect(prices.data.find(({ model }) => model === "tiered")).toEqual({
        ...{ model: "tiered", billing_type: "token", unit: "1K tokens", multiplier: "0.9" },
        ...{ input_price: "0.90", cached_input_price: "0.45", output_price: "1.80", service_tiers: { flex: "0.5" } },
        items: [
          { item: "call", price: "0.009" },
          { item: "input", above_input_tokens: 90, price: "1.80" },
          { item: "output", above_input_tokens: 90, price: "3.60" },
        ],
      });
    },
  );

  test.each(ways)(
    "that changes during a call, $way, applies to the next call; the running call keeps its price",
    async ({ asked }) => {
      await chat.applyCatalog(writeCatalog(chat.upstream));
      const caller = await chat.createCaller();
      const gate = chat.upstream.gate();
      script({ text: "Hello", usage, beforeHead: gate });
      const answer = askChat(caller, writeQuestion("changing", asked));
      await gate.reached();
      const dearer = writePrice("changing", { input_price: "2.00", output_price: "4.00" });
      await chat.applyCatalog(writeCatalog(chat.upstream, [dearer]));
      gate.open();
      expect(await answer).toMatchObject({ usage: { charge: "0.14" } });
      expect(await pay("changing", caller)).toBe("0.28");
      const [before, after] = await caller.listCharges();
      expect(before?.priceId).not.toBe(after?.priceId);
    },
  );
});

describe("a plan's quota", () => {
  const usage = { inputTokens: 100, outputTokens: 20 };

  async function createQuotaCaller(text: bigint, cash?: string): Promise<ChatCaller> {
    const id = `quota-${text}-${testNumber}`;
    const quotas = { text, image: 0n, video: 0n };
    await createPlan(chat.gateway.parts, { id, name: id, limits: {}, period: "month", quotas });
    const caller = await chat.createCaller(cash === undefined ? {} : { cash });
    await changeAccount(chat.gateway.parts, caller.accountId, { planId: id });
    return caller;
  }

  test.each(everyWay)(
    "pays for all of a call by $vendor, $way, if it has room for all of it",
    async ({ vendor, asked }) => {
      const question = writeQuestion(vendor, { max_tokens: 50, ...asked });
      const room = boundInput(question) + 50;
      const caller = await createQuotaCaller(BigInt(room), "0");
      script({ text: "Hello", usage: { inputTokens: 30, outputTokens: 20 } });
      expect(await askChat(caller, question)).toMatchObject({ text: "Hello", usage: { charge: "0.00" } });
      expect(await readOnlyCharge(caller)).toMatchObject({ unit: "text", paid: "50", lost: "0" });
      expect(await caller.listHolds()).toMatchObject([{ unit: "text", amount: String(room), settled: "50" }]);
    },
  );

  test("that is one token short pays for none of a call: money does", async () => {
    const question = writeQuestion("open", { max_tokens: 50 });
    const caller = await createQuotaCaller(BigInt(boundInput(question) + 49));
    script({ text: "Hello", usage });
    expect(await askChat(caller, question)).toMatchObject({ usage: { charge: "0.14" } });
    expect(await readOnlyCharge(caller)).toMatchObject({ unit: "money", paid: "0.14" });
    const poor = await createQuotaCaller(BigInt(boundInput(question)), "0");
    expect(await askChat(poor, question)).toMatchObject({ status: 402, error: { code: "insufficient_balance" } });
  });

  test("is charged for the part that a disconnected caller received, too", async () => {
    const caller = await createQuotaCaller(5000n, "0");
    const gate = chat.upstream.gate();
    script({ pieces: ["abcd", "efgh"], beforePiece: gate });
    const answer = await openAnswer(caller, writeQuestion("open", { stream: true }));
    gate.release();
    await answer.said("abcd");
    answer.hangUp();
    expect(await readOnlyCharge(caller)).toMatchObject({ unit: "text", paid: String(countTokens("Hello") + 1) });
  });
});
