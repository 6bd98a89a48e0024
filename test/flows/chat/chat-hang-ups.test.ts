import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { askChat, boundInput, openAnswer, writeQuestion } from "../../harness/chat/hear-chat.ts";
import { type Behaviour, canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";

/** $3 and $15 for a million tokens. */
const price = { billing_type: "token", unit: "1K tokens", input_price: "0.003", output_price: "0.015" };
const limits = { context_window: 200_000, max_output_tokens: 32_000 };
const thinkers = ["thinker", "slow", "crowded", "leaving", "failing"];
/** All their output is visible, so a stream is stopped as soon as the caller disconnects. */
const talkers = ["talker", "claude", "gemini"];

/** Thinkers reason invisibly: the catalog only says that they reason. */
function writeCatalog(upstream: FakeUpstreams): string {
  const routes = (id: string) => [
    { provider: "open", upstream_model: `${canary}-${id}`, priority: 0 },
    { provider: "open", upstream_model: `${canary}-${id}-other`, priority: 1 },
  ];
  return writeCatalogOf(upstream, {
    models: [
      ...thinkers.map((id) => ({ id, hold: undefined, limits, routes: routes(id) })),
      { id: "talker", limits, routes: routes("talker") },
      { id: "claude", limits, routes: [{ provider: "anthropic", upstream_model: `${canary}-claude` }] },
      { id: "gemini", limits, routes: [{ provider: "google", upstream_model: `${canary}-gemini` }] },
    ],
    prices: [...thinkers, ...talkers].map((model) => ({ model, ...price })),
  });
}

const usage = { inputTokens: 1000, outputTokens: 20_000, reasoningTokens: 19_990 };
/** The price of the complete answer. */
const whole = "0.303";

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeCatalog, settings: { drained_calls_max: 2 } });
});
afterAll(() => chat[Symbol.asyncDispose]());

function scriptFor(model: string, ...behaviours: readonly Behaviour[]): void {
  chat.upstream.scriptFor({ model: `${canary}-${model}` }, ...behaviours);
}

async function listPaid(caller: ChatCaller): Promise<string[]> {
  await caller.settled();
  return (await caller.listCharges()).map(({ paid }) => paid);
}

type Gate = ReturnType<FakeUpstreams["gate"]>;

/** Sends a call, disconnects once the upstream waits at the gate, and resolves when the gateway has noticed. */
async function sendAndLeave(
  caller: ChatCaller,
  question: string,
  gate: Gate,
  { from = chat, path = "/chat/completions" }: { from?: ChatGateway; path?: string } = {},
) {
  const { gateway } = from;
  const countLeft = () =>
    gateway.logs.filter(({ aborted, account_id }) => aborted === true && account_id === caller.accountId).length;
  const leftBefore = countLeft();
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${caller.key}`, "content-type": "application/json" };
  const lost = from
    .fetch(`${gateway.baseUrl}${path}`, { method: "POST", headers, body: question, signal: controller.signal })
    .then((response) => response.text())
    .catch(() => null);
  await gate.reached();
  await waitUntil("the hold", async () => (await caller.listHolds()).length > 0);
  controller.abort();
  await lost;
  await waitUntil("the hang-up to be felt", () => countLeft() > leftBefore);
}

describe("a model with hidden reasoning is charged for the complete answer", () => {
  test("if the answer is read to the end, whole and streamed", async () => {
    const caller = await chat.createCaller();
    scriptFor("thinker", { text: "Forty-two.", usage }, { text: "Forty-two.", usage });
    await askChat(caller, writeQuestion("thinker"));
    await askChat(caller, writeQuestion("thinker", { stream: true }));
    expect(await listPaid(caller)).toEqual([whole, whole]);
  });

  test("if the caller disconnects at the last visible word", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    scriptFor("thinker", { text: "Forty-two.", usage, beforeEnd: gate });
    const answer = await openAnswer(caller, writeQuestion("thinker", { stream: true }));
    await answer.said("Forty-two.");
    answer.hangUp();
    gate.open();
    expect(await listPaid(caller)).toEqual([whole]);
    expect((await caller.listCharges())[0]?.items).toMatchObject({ output_tokens: 20_000, hung_up: 1 });
  });

  test("if the caller disconnects while the model thinks, which is logged", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    scriptFor("thinker", { text: "Forty-two.", usage, beforePiece: gate });
    await sendAndLeave(caller, writeQuestion("thinker", { stream: true }), gate);
    gate.open();
    expect(await listPaid(caller)).toEqual([whole]);
    const line = await waitUntil("its line", () =>
      chat.gateway.logs.find(({ hung_up, account_id }) => hung_up === true && account_id === caller.accountId),
    );
    expect(line).toMatchObject({ model: "thinker", output_tokens: 20_000, charge: whole });
    const charges = await chat.gateway.get("/charges", caller.key);
    expect(await charges.json()).toMatchObject({
      data: [{ hung_up: true, charge: whole, summary: "1,000 input tokens, 20,000 output tokens" }],
    });
  });

  test("if the caller disconnects just before a whole answer", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    scriptFor("thinker", { text: "Forty-two.", usage, beforeHead: gate });
    await sendAndLeave(caller, writeQuestion("thinker"), gate);
    gate.open();
    expect(await listPaid(caller)).toEqual([whole]);
  });
});

/** The same question in each wire format. */
const wires: Record<string, (model: string, stream: boolean) => { path: string; body: string }> = {
  chat: (model, stream) => ({ path: "/chat/completions", body: writeQuestion(model, { stream }) }),
  completions: (model, stream) => ({
    path: "/completions",
    body: JSON.stringify({ model, prompt: "Hello", max_tokens: 100, stream }),
  }),
  messages: (model, stream) => ({
    path: "/messages",
    body: JSON.stringify({ model, max_tokens: 100, messages: [{ role: "user", content: "Hello" }], stream }),
  }),
  responses: (model, stream) => ({ path: "/responses", body: JSON.stringify({ model, input: "Hello", stream }) }),
};

const hangUps = Object.keys(wires).flatMap((wire) =>
  talkers.flatMap((model) => [true, false].map((stream) => ({ wire, model, form: stream ? "stream" : "whole" }))),
);

describe("a caller who disconnects before the upstream's response head", () => {
  /** Sends a request and closes the socket while the upstream waits at the gate; resolves with the account. */
  async function leaveBeforeHead({ wire, model, form }: (typeof hangUps)[number], behaviour: Behaviour) {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    scriptFor(model, { ...behaviour, beforeHead: gate });
    const { path, body } = (wires[wire] ?? fail)(model, form === "stream");
    await sendAndLeave(caller, body, gate, { path });
    gate.open();
    return caller;
  }
  const fail = (): never => {
    throw new Error("no such wire");
  };

  test.each(hangUps)("pays once the upstream accepts: $wire, $model, $form", async (hangUp) => {
    const reported = { inputTokens: 101_288, outputTokens: 3 };
    const caller = await leaveBeforeHead(hangUp, { text: "Forty-two.", usage: reported });
    await waitUntil("its charge", async () => (await caller.listCharges()).length === 1);
    const [charge] = await caller.listCharges();
    expect(Number(charge?.paid)).toBeGreaterThan(0);
    expect(charge?.items).toMatchObject({ hung_up: 1 });
    expect((await caller.readBalance()).frozen).toBe("0.00");
  });

  test.each(hangUps)("pays nothing if the upstream rejects: $wire, $model, $form", async (hangUp) => {
    const caller = await leaveBeforeHead(hangUp, { status: 400 });
    expect(await listPaid(caller)).toEqual([]);
    expect(await caller.listHolds()).toMatchObject([{ state: "released" }]);
  });
});

describe("a caller who disconnects after an instant head, before the first data", () => {
  test.each(hangUps.filter(({ form }) => form === "stream"))("pays: $wire, $model", async ({ wire, model }) => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    scriptFor(model, { text: "Forty-two.", usage, beforePiece: gate });
    const question = wires[wire]?.(model, true);
    await sendAndLeave(caller, question?.body ?? "", gate, { path: question?.path ?? "" });
    gate.open();
    await waitUntil("its charge", async () => (await caller.listCharges()).length === 1);
    expect(Number((await caller.listCharges())[0]?.paid)).toBeGreaterThan(0);
  });
});

describe("a call that is read to its end after the caller disconnected", () => {
  const held = (question: string) => (boundInput(question) * 0.003 + 32_000 * 0.015) / 1000;

  test.each<[string, Behaviour]>([
    ["reports nothing", { text: "Forty-two.", usage: null }],
    ["breaks off", { text: "Forty-two.", usage, errorAfterPieces: 1 }],
  ])("costs the whole hold if its upstream %s", async (_name, behaviour) => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    scriptFor("failing", { ...behaviour, beforePiece: gate });
    const question = writeQuestion("failing", { stream: true });
    await sendAndLeave(caller, question, gate);
    gate.open();
    expect((await listPaid(caller)).map(Number)).toEqual([held(question)]);
    expect((await caller.readBalance()).frozen).toBe("0.00");
  });

  test("costs nothing if its upstream never accepted it, and no other upstream is tried", async () => {
    const caller = await chat.createCaller();
    const gate = chat.upstream.gate();
    scriptFor("slow", { beforeHead: gate, status: 500 });
    const callsBefore = chat.upstream.requests.length;
    await sendAndLeave(caller, writeQuestion("slow"), gate);
    gate.open();
    expect(await listPaid(caller)).toEqual([]);
    expect(await caller.listHolds()).toMatchObject([{ state: "released" }]);
    expect(chat.upstream.requests.length).toBe(callsBefore + 1);
  });

  test("occupies one of the account's few slots; without a free slot the upstream is stopped and the hold charged", async () => {
    const caller = await chat.createCaller();
    const gates = [1, 2, 3].map(() => chat.upstream.gate());
    const question = writeQuestion("crowded");
    for (const gate of gates) {
      scriptFor("crowded", { text: "Forty-two.", usage, beforeHead: gate });
      await sendAndLeave(caller, question, gate);
    }
    await waitUntil("the third to be stopped", () => chat.upstream.requests.at(-1)?.outcome === "aborted");
    await waitUntil("its charge", async () => (await caller.listCharges()).length === 1);
    expect((await caller.listCharges()).map(({ paid }) => Number(paid))).toEqual([held(question)]);
    for (const gate of gates) gate.open();
    await waitUntil("the others", async () => (await caller.listCharges()).length === 3);
    expect((await listPaid(caller)).slice(1)).toEqual([whole, whole]);
  });

  test("counts towards the caller's concurrency limit until it ends", async () => {
    const caller = await chat.createCaller({ limits: { concurrentRequests: 1 } });
    const gate = chat.upstream.gate();
    scriptFor("slow", { text: "Forty-two.", usage, beforeHead: gate });
    await sendAndLeave(caller, writeQuestion("slow"), gate);
    expect(await askChat(caller, writeQuestion("slow"))).toMatchObject({ status: 429 });
    gate.open();
    await caller.settled();
    await waitUntil("the place", async () => (await askChat(caller, writeQuestion("slow"))).status === 200);
  });
});

test("a gateway that shuts down waits for calls whose caller disconnected", async () => {
  await using leaving = await openChatGateway({ catalog: writeCatalog });
  const caller = await leaving.createCaller();
  const gate = leaving.upstream.gate();
  leaving.upstream.script({ text: "Forty-two.", usage, beforeHead: gate });
  await sendAndLeave(caller, writeQuestion("leaving"), gate, { from: leaving });
  const { database } = leaving.gateway;
  const closing = leaving.gateway.close();
  await waitUntil("the doors to be closed", () =>
    fetch(leaving.gateway.siteUrl).then(
      () => false,
      () => true,
    ),
  );
  gate.open();
  await waitUntil("its charge", async () => {
    const rows = await database
      .selectFrom("charges")
      .select("paid")
      .where("account_id", "=", caller.accountId)
      .execute();
    return rows.length === 1 && rows[0]?.paid === 303_000_000n;
  });
  await closing;
});
