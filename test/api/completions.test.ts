import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OpenAI as LangChainCompletion } from "@langchain/openai";
import { generateText } from "ai";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { upstreamKeyName, writeCatalogOf, writePrice } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { clientModels } from "../harness/chat/client-catalog.ts";
import { canary, type FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";

/** The clients' models, one with a price per call, and two of an upstream that has the completions API. */
function writeCatalog(upstream: FakeUpstreams): string {
  const route = (provider: string, more: object = {}) => ({
    provider,
    upstream_model: `${canary}-${provider}`,
    ...more,
  });
  const own = { kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys: [`\${${upstreamKeyName}}`] };
  const models = ["open", "anthropic", "google", "packaged", "native", "no-usage"].map((id) => ({
    id,
    routes: [route(id)],
  }));
  return writeCatalogOf(upstream, {
    providers: [
      { id: "sandbox", kind: "sandbox" },
      { id: "native", ...own, native_wires: ["completions"] },
      { id: "no-usage", ...own, native_wires: ["completions"], stream_usage: false },
    ],
    models: [
      ...models,
      { id: "sandbox-chat", routes: [{ provider: "sandbox", upstream_model: "chat" }] },
      { id: "mixed", routes: [route("open", { priority: 0 }), route("native", { priority: 1 })] },
      { id: "per-call", routes: [route("open")] },
      { id: "minimum", routes: [route("open")] },
    ],
    prices: [
      ...["open", "anthropic", "google", "packaged", "native", "no-usage", "sandbox-chat", "mixed"].map((id) =>
        writePrice(id),
      ),
      writePrice("minimum", { minimum_charge: "0.01" }),
      { model: "per-call", billing_type: "per_call", unit: "call", price: "0.01" },
    ],
  });
}

let stage: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  stage = await openChatGateway({ catalog: writeCatalog });
  caller = await stage.createCaller({ cash: "10000" });
});
afterAll(async () => {
  expect(stage.upstream.refusals()).toEqual([]);
  await stage[Symbol.asyncDispose]();
});

type Init = { headers?: Record<string, string>; by?: ChatCaller };

function post(body: unknown, { headers = {}, by = caller }: Init = {}): Promise<Response> {
  return stage.fetch(`${stage.gateway.baseUrl}/completions`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${by.key}`, "content-type": "application/json", ...headers },
  });
}

async function readProblem(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } };
  return { status: response.status, code: error.code, param: error.param, message: error.message };
}

async function collect(stream: AsyncIterable<OpenAI.Completion>): Promise<OpenAI.Completion[]> {
  return await Array.fromAsync(stream);
}

describe.each(clientModels)("%s through the OpenAI SDK", (model) => {
  test("completes a prompt, and streams the same text with the same usage", async () => {
    const asked = { model, prompt: "Hello" };
    const whole = await caller.client.completions.create(asked);
    expect(whole).toMatchObject({ object: "text_completion", model, id: expect.stringMatching(/^cmpl-/) });
    expect(whole.choices).toEqual([
      { text: expect.stringContaining("Hello"), index: 0, logprobs: null, finish_reason: "stop" },
    ]);
    expect(whole.usage).toMatchObject({
      charge: expect.stringMatching(/^\d+\.\d+$/),
      total_tokens: expect.any(Number),
    });
    const options = { stream: true, stream_options: { include_usage: true } } as const;
    const events = await collect(await caller.client.completions.create({ ...asked, ...options }));
    const choices = events.flatMap((event) => event.choices);
    expect(choices.map(({ text }) => text).join("")).toBe(whole.choices[0]?.text);
    expect(choices.at(-1)?.finish_reason).toBe("stop");
    expect(events.at(-1)?.usage).toEqual(whole.usage);
    for (const event of events) expect(event).toMatchObject({ object: "text_completion", model });
  });
});

test("an older client's fields reach the model as the chat fields", async () => {
  const fields = { temperature: 0.5, top_p: 0.9, max_tokens: 50, stop: ["END"], seed: 7, user: "u-1", n: 2 };
  const { choices } = await caller.client.completions.create({
    ...{ model: "open", prompt: ["Hello"], suffix: "", echo: false, best_of: 2, ...fields },
  });
  expect(choices.map(({ index }) => index)).toEqual([0, 1]);
  const { max_tokens: cap, ...same } = fields;
  expect(stage.upstream.requests.at(-1)?.json).toMatchObject({
    ...{ messages: [{ role: "user", content: "Hello" }], max_completion_tokens: cap, ...same },
  });
});

test("without max_tokens the output has the model's own limit, not 16 tokens", async () => {
  const { choices } = await caller.client.completions.create({ model: "sandbox-chat", prompt: "Go on [[long:40]]" });
  expect(choices[0]).toMatchObject({ finish_reason: "stop" });
  const short = await caller.client.completions.create({
    ...{ model: "sandbox-chat", prompt: "Go on [[long:40]]", max_tokens: 5 },
  });
  expect(short).toMatchObject({ choices: [{ finish_reason: "length" }], usage: { completion_tokens: 5 } });
});

test("logprobs have the older format, plain and streamed", async () => {
  const asked = { model: "sandbox-chat", prompt: "Hello", logprobs: 2 } as const;
  const { choices } = await caller.client.completions.create(asked);
  const { text = "", logprobs } = choices[0] ?? {};
  const { tokens = [], token_logprobs: likely = [], top_logprobs: tops = [], text_offset: offsets } = logprobs ?? {};
  expect(tokens.join("")).toBe(text);
  expect(offsets).toEqual(tokens.map((_, index) => tokens.slice(0, index).join("").length));
  expect(likely.every((each) => each < 0)).toBe(true);
  expect(Object.keys(tops[0] ?? {})).toHaveLength(2);
  expect(tops[0]?.[tokens[0] ?? ""]).toBe(likely[0]);
  const events = await collect(await caller.client.completions.create({ ...asked, stream: true }));
  const pieces = events.flatMap((event) => event.choices.flatMap((choice) => choice.logprobs ?? []));
  expect(pieces.flatMap((piece) => piece.text_offset ?? [])).toEqual(offsets);
  expect(pieces.flatMap((piece) => piece.top_logprobs ?? [])).toEqual(tops);
});

test("the AI SDK and LangChain complete with their older models", async () => {
  const options = { name: "sluice", baseURL: stage.gateway.baseUrl, apiKey: caller.key, fetch: stage.fetch };
  const model = createOpenAICompatible(options).completionModel("open");
  const { text, usage, finishReason } = await generateText({ model, prompt: "Hello", maxRetries: 0 });
  expect(text).toContain("Hello");
  expect([finishReason, usage.inputTokens]).toEqual(["stop", expect.any(Number)]);
  const configuration = { baseURL: stage.gateway.baseUrl, fetch: stage.fetch };
  const chain = new LangChainCompletion({ model: "open", apiKey: caller.key, configuration, maxRetries: 0 });
  expect(await chain.invoke("Hello")).toContain("Hello");
  let streamed = "";
  for await (const piece of await chain.stream("Hello")) streamed += piece;
  expect(streamed).toContain("Hello");
});

describe("a list of prompts", () => {
  const model = "open";
  const asked = { prompt: ["First", "Second one"], n: 2 };

  test("is one paid call with a request per prompt", async () => {
    const own = await stage.createCaller();
    const before = stage.upstream.requests.length;
    const whole = await own.client.completions.create({ model, ...asked });
    expect(stage.upstream.requests.slice(before).map(({ ask }) => ask?.prompt)).toEqual(asked.prompt);
    expect(whole.choices.map(({ index, text }) => [index, text])).toEqual([
      [0, "Echo: First"],
      [1, "Echo: First (choice 2)"],
      [2, "Echo: Second one"],
      [3, "Echo: Second one (choice 2)"],
    ]);
    const [charge, ...others] = await own.listCharges();
    expect([charge?.paid, others]).toEqual([(whole.usage as { charge?: string }).charge, []]);
    let tokens = 0;
    for (const prompt of asked.prompt) {
      const { usage } = await own.client.completions.create({ model, prompt, n: 2 });
      tokens += usage?.total_tokens ?? 0;
    }
    expect(whole.usage?.total_tokens).toBe(tokens);
  });

  test.each(clientModels)("gets an answer to each prompt by %s", async (model) => {
    const { choices } = await caller.client.completions.create({ model, prompt: asked.prompt });
    expect(choices.map(({ index }) => index)).toEqual([0, 1]);
    for (const [at, prompt] of asked.prompt.entries()) expect(choices[at]?.text).toContain(prompt);
  });

  test("is streamed with the choices of all prompts", async () => {
    const whole = await caller.client.completions.create({ model, ...asked });
    const options = { stream: true, stream_options: { include_usage: true } } as const;
    const events = await collect(await caller.client.completions.create({ model, ...asked, ...options }));
    const texts = ["", "", "", ""];
    for (const { index, text } of events.flatMap(({ choices }) => choices)) texts[index] += text;
    expect(texts).toEqual(whole.choices.map(({ text }) => text));
    const ends = events.flatMap(({ choices }) => choices.filter((choice) => choice.finish_reason !== null));
    expect(ends.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3]);
    expect(events.at(-1)?.usage).toEqual(whole.usage);
  });

  test("fails and costs nothing if one prompt fails", async () => {
    const own = await stage.createCaller();
    const prompt = ["Hello", "Hello <<fault:status=400>>", "Hello again"];
    const problem = await readProblem(await post({ model, prompt }, { by: own }));
    expect(problem.status).toBe(400);
    expect(await own.listCharges()).toEqual([]);
    await stage.upstream.idle();
  });

  test("that is given up stops every request", async () => {
    const own = await stage.createCaller();
    const before = stage.upstream.abortedCalls().length;
    const prompt = ["Hello <<fault:stall>>", "Hello again <<fault:stall>>"];
    const sent = stage.upstream.requests.length;
    const stream = await own.client.completions.create({ model, prompt, stream: true });
    for await (const { choices } of stream) if (choices[0]?.index === 1) break;
    await stage.upstream.received(sent + 2);
    await stage.upstream.aborted(before + 2);
  });

  test.each(["per-call", "minimum"])("is rejected by %s, whose price per call would be charged once", async (id) => {
    const problem = await readProblem(await post({ model: id, prompt: ["One", "Two"] }));
    expect(problem).toMatchObject({ status: 400, code: "unsupported_capability", param: "prompt" });
    expect(problem.message).toContain("per call");
    expect((await post({ model: id, prompt: ["One"] })).status).toBe(200);
  });
});

describe("an upstream with the completions API", () => {
  const requestBody = () => stage.upstream.requests.at(-1);

  test("gets the prompt and the suffix as they are, and its text is the completion", async () => {
    const fields = { temperature: 0.2, stop: ["END"], seed: 7, n: 2, logprobs: 1 };
    const asked = { model: "native", prompt: "def add(a, b):", suffix: "return sum", max_tokens: 40, ...fields };
    const whole = await caller.client.completions.create(asked);
    expect(requestBody()?.path).toBe("/openai/v1/completions");
    expect(requestBody()?.json).toEqual({ ...asked, model: `${canary}-native` });
    expect(whole.choices[0]).toMatchObject({ text: "Echo: def add(a, b): … return sum", finish_reason: "stop" });
    expect(whole.choices[0]?.logprobs?.tokens?.join("")).toBe(whole.choices[0]?.text);
    expect(whole).toMatchObject({ model: "native", object: "text_completion", choices: [{ index: 0 }, { index: 1 }] });
    expect(JSON.stringify(whole)).not.toContain(canary);
    const events = await collect(await caller.client.completions.create({ ...asked, stream: true }));
    const first = events.flatMap(({ choices }) => choices.filter(({ index }) => index === 0));
    expect(first.map(({ text }) => text).join("")).toBe(whole.choices[0]?.text);
    expect(requestBody()?.json).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test("serves what the model's other upstreams cannot", async () => {
    const { choices } = await caller.client.completions.create({ model: "mixed", prompt: "One", suffix: "three" });
    expect(choices[0]?.text).toBe("Echo: One … three");
    await caller.client.completions.create({ model: "mixed", prompt: "One" });
    expect(requestBody()?.path).toBe("/openai/v1/chat/completions");
  });

  test("gets a request for each prompt of a list, and reports errors like any other", async () => {
    const { choices } = await caller.client.completions.create({ model: "native", prompt: ["One", "Two"] });
    expect(choices.map(({ index, text }) => [index, text])).toEqual([
      [0, "Echo: One"],
      [1, "Echo: Two"],
    ]);
    stage.upstream.script({ status: 400, error: { code: "context_length_exceeded" } });
    expect(await readProblem(await post({ model: "native", prompt: "Hello" }))).toMatchObject({
      ...{ status: 400, code: "context_length_exceeded", param: "prompt" },
    });
    stage.upstream.script({ text: "one two three", cut: { afterPieces: 2 } });
    const body = await (await post({ model: "native", prompt: "Hello", stream: true })).text();
    expect(body).toMatch(/data: \{"error":\{[^\n]+\n\n$/);
  });

  test("is charged by its report, or by our own count without one", async () => {
    const own = await stage.createCaller();
    const { usage } = await own.client.completions.create({ model: "native", prompt: "Hello there" });
    stage.upstream.script({ usage: null }, { usage: null });
    const counted = await own.client.completions.create({ model: "native", prompt: "Hello there" });
    const streamed = await collect(
      await own.client.completions.create({ model: "native", prompt: "Hello there", stream: true }),
    );
    expect(streamed.at(-1)?.choices[0]?.finish_reason).toBe("stop");
    await collect(await own.client.completions.create({ model: "no-usage", prompt: "Hello there", stream: true }));
    expect(requestBody()?.json).not.toHaveProperty("stream_options");
    expect([usage?.completion_tokens, counted.usage?.completion_tokens]).toEqual([3, expect.any(Number)]);
    expect(await own.listCharges()).toHaveLength(4);
  });
});

describe("rejected by name", () => {
  const good = { model: "open", prompt: "Hello" };
  test.each([
    ["no prompt", { model: "open" }, "missing_parameter", "prompt"],
    ["too many prompts", { ...good, prompt: Array(33).fill("a") }, "unsupported_capability", "prompt"],
    ["too many choices", { ...good, prompt: ["a", "b"], n: 65 }, "unsupported_capability", "n"],
    ["texts and tokens", { ...good, prompt: ["a", [1]] }, "invalid_parameter", "prompt[1]"],
    ["tokens", { ...good, prompt: [1, 2] }, "unsupported_capability", "prompt"],
    ["lists of tokens", { ...good, prompt: [[1, 2]] }, "unsupported_capability", "prompt"],
    ["suffix", { ...good, suffix: "." }, "unsupported_capability", "suffix"],
    ["echo", { ...good, echo: true }, "unsupported_capability", "echo"],
    ["best_of", { ...good, best_of: 3 }, "unsupported_capability", "best_of"],
    ["too many logprobs", { ...good, logprobs: 6 }, "invalid_parameter", "logprobs"],
    ["chat fields", { ...good, messages: [] }, "unknown_parameter", "messages"],
    ["stream_options without stream", { ...good, stream_options: {} }, "invalid_parameter", "stream_options"],
    ["an unsupported option", { ...good, model: "anthropic", logprobs: 1 }, "unsupported_capability", "logprobs"],
    ["a prompt that cannot fit", { ...good, prompt: "x".repeat(2_100_000) }, "context_length_exceeded", "prompt"],
  ])("%s", async (_, body, code, param) => {
    const problem = await readProblem(await post(body));
    expect(problem).toMatchObject({ status: 400, code, param });
    expect(problem.message).not.toMatch(/messages\b(?!` is not a field)/);
  });
});

test("an upstream's rejection names the prompt", async () => {
  stage.upstream.script({ status: 400, error: { code: "context_length_exceeded" } });
  expect(await readProblem(await post({ model: "open", prompt: "Hello" }))).toMatchObject({
    ...{ status: 400, code: "context_length_exceeded", param: "prompt", message: expect.stringContaining("prompt") },
  });
});

test("a stream that breaks off ends with its error, and without [DONE]", async () => {
  stage.upstream.script({ text: "one two three", cut: { afterPieces: 2 } });
  const body = await (await post({ model: "open", prompt: "Hello", stream: true })).text();
  expect(body).toMatch(/"text":"[^"]+"/);
  expect(body).toMatch(/data: \{"error":\{[^\n]+\n\n$/);
});

test("a second request with the same key returns the first response and is not charged", async () => {
  const own = await stage.createCaller();
  const headers = { "idempotency-key": "once" };
  const first = await post({ model: "open", prompt: "Hello" }, { by: own, headers });
  const again = await post({ model: "open", prompt: "Hello" }, { by: own, headers });
  expect(await again.text()).toBe(await first.text());
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await own.listCharges()).toHaveLength(1);
});
