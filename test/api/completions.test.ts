import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OpenAI as LangChainCompletion } from "@langchain/openai";
import { generateText } from "ai";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { clientModels, writeClientCatalog } from "../harness/chat/client-catalog.ts";

let stage: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  stage = await openChatGateway({ catalog: writeClientCatalog });
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

describe("rejected by name", () => {
  const good = { model: "open", prompt: "Hello" };
  test.each([
    ["no prompt", { model: "open" }, "missing_parameter", "prompt"],
    ["several prompts", { ...good, prompt: ["a", "b"] }, "unsupported_capability", "prompt"],
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
