import type OpenAI from "openai";
import { APIUserAbortError } from "openai";
import { makeParseableResponseFormat } from "openai/lib/parser";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { citySchema, clientModels, offerTool, pixelUrl, writeClientCatalog } from "../harness/chat/client-catalog.ts";
import { thoughtSignature } from "../harness/upstreams/parse-anthropic-ask.ts";
import { callSignature } from "../harness/upstreams/parse-gemini-ask.ts";

type Message = OpenAI.ChatCompletionMessageParam;
type Chunk = OpenAI.ChatCompletionChunk;

let chat: ChatGateway;
let caller: ChatCaller;
let client: OpenAI;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeClientCatalog });
  caller = await chat.createCaller({ cash: "10000" });
  client = caller.client;
});
afterAll(async () => {
  expect(chat.upstream.refusals()).toEqual([]);
  await chat[Symbol.asyncDispose]();
});

const hello: Message[] = [{ role: "user", content: "Hello" }];
const answerKeys = ["choices", "created", "id", "model", "object", "usage"];
const chunkKeys = ["choices", "created", "id", "model", "object"];
const usageShape = {
  prompt_tokens: expect.any(Number),
  completion_tokens: expect.any(Number),
  total_tokens: expect.any(Number),
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
  charge: expect.stringMatching(/^\d+\.\d{2,}$/),
};

function sortedKeys(value: object): string[] {
  return Object.keys(value).sort();
}

async function collect(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function readText(chunks: readonly Chunk[], index = 0): string {
  const choices = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index);
  return choices.map(({ delta }) => delta.content ?? "").join("");
}

describe.each(clientModels)("%s", (model) => {
  test("a plain response contains exactly the contract's fields, with the cost", async () => {
    const own = await chat.createCaller();
    const answer = await own.client.chat.completions.create({ model, messages: hello });
    expect(sortedKeys(answer)).toEqual(answerKeys);
    expect(answer).toMatchObject({ model, object: "chat.completion", usage: usageShape });
    expect(answer.id).toMatch(/^chatcmpl-[0-9a-zA-Z]+$/);
    expect(answer._request_id).toBe(`req_${answer.id.slice("chatcmpl-".length)}`);
    expect(Math.abs(answer.created - Date.now() / 1000)).toBeLessThan(60);
    expect(answer.choices).toHaveLength(1);
    const [choice] = answer.choices;
    expect(sortedKeys(choice ?? {})).toEqual(["finish_reason", "index", "logprobs", "message"]);
    expect(choice).toMatchObject({ index: 0, finish_reason: "stop", logprobs: null });
    expect(sortedKeys(choice?.message ?? {})).toEqual(["content", "refusal", "role"]);
    expect(choice?.message).toMatchObject({
      role: "assistant",
      content: expect.stringMatching(/Hello/),
      refusal: null,
    });
    const { charge } = answer.usage as unknown as { charge: string };
    expect((await own.listCharges()).map(({ paid }) => paid)).toEqual([charge]);
  });

  test("stream chunks contain exactly the contract's fields, and end with the usage if requested", async () => {
    const whole = await client.chat.completions.create({ model, messages: hello });
    const chunks = await collect(
      await client.chat.completions.create({
        model,
        messages: hello,
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    const [first] = chunks;
    const last = chunks.at(-1);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(first?.id).toMatch(/^chatcmpl-/);
    expect(first?.choices[0]?.delta.role).toBe("assistant");
    for (const chunk of chunks) {
      expect(sortedKeys(chunk)).toEqual([...chunkKeys, "usage"]);
      expect(chunk).toMatchObject({ model, object: "chat.completion.chunk", created: first?.created });
    }
    expect(last).toMatchObject({ choices: [], usage: usageShape });
    expect(last?.usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
    for (const { usage, choices } of chunks.slice(0, -1)) {
      expect([usage, choices.length]).toEqual([null, 1]);
      const keys = sortedKeys(choices[0] ?? {}).filter((key) => key !== "logprobs");
      expect(keys).toEqual(["delta", "finish_reason", "index"]);
    }
    const reasons = chunks.flatMap(({ choices }) => choices.map(({ finish_reason: reason }) => reason));
    expect(reasons.filter((reason) => reason !== null)).toEqual(["stop"]);
    expect(reasons.at(-1)).toBe("stop");
    expect(readText(chunks)).toBe(whole.choices[0]?.message.content);
  });

  test("a stream without a request for usage contains none", async () => {
    const chunks = await collect(await client.chat.completions.create({ model, messages: hello, stream: true }));
    for (const chunk of chunks) expect(sortedKeys(chunk)).toEqual(chunkKeys);
    expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
  });

  test("the SDK's stream helper collects the answer", async () => {
    const stream = client.chat.completions.stream({ model, messages: hello, stream_options: { include_usage: true } });
    const deltas: string[] = [];
    stream.on("content.delta", ({ delta }) => deltas.push(delta));
    const completion = await stream.finalChatCompletion();
    expect(await stream.finalContent()).toBe(deltas.join(""));
    expect(completion).toMatchObject({ model, choices: [{ finish_reason: "stop", message: { role: "assistant" } }] });
    expect(await stream.totalUsage()).toMatchObject({ total_tokens: completion.usage?.total_tokens });
    expect(completion.choices[0]?.message.content).toContain("Hello");
  });

  test("the SDK answers streamed calls of two tools, and the model receives the results", async () => {
    const asked: string[] = [];
    const run = (name: string): RunnableToolFunctionWithParse<{ city: string }> => ({
      ...offerTool(name),
      function: {
        ...offerTool(name).function,
        parse: JSON.parse,
        function: ({ city }) => {
          asked.push(`${name} of ${typeof city}`);
          return `${name} is fine`;
        },
      },
    });
    const runner = client.chat.completions.runTools({
      model,
      stream: true,
      messages: [{ role: "user", content: "Please call weather and traffic for Paris" }],
      tools: [run("weather"), run("traffic")],
    });
    const text = await runner.finalContent();
    expect(asked.sort()).toEqual(["traffic of string", "weather of string"]);
    expect(text).toContain("traffic is fine");
    expect(runner.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
  });

  test("the arguments of a tool call arrive in fragments that form one JSON text", async () => {
    const messages: Message[] = [{ role: "user", content: "Please call weather for Paris" }];
    const tools = [offerTool("weather"), offerTool("traffic")];
    const chunks = await collect(
      await client.chat.completions.create({ model, messages, tools, tool_choice: "required", stream: true }),
    );
    const fragments = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    const [first, ...rest] = fragments;
    expect(first).toMatchObject({ index: 0, type: "function", function: { name: "weather" } });
    expect(first?.id).toMatch(/^call_/);
    for (const fragment of rest)
      expect([fragment.index, fragment.id, fragment.function?.name]).toEqual([0, undefined, undefined]);
    const text = fragments.map((fragment) => fragment.function?.arguments ?? "").join("");
    expect(JSON.parse(text)).toEqual({ city: expect.any(String) });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
  });

  test("a tool round works: call, result sent back, final answer", async () => {
    const tools = [offerTool("weather"), offerTool("traffic")];
    const messages: Message[] = [{ role: "user", content: "Please call weather and traffic for Paris" }];
    const first = await client.chat.completions.create({ model, messages, tools });
    const [choice] = first.choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    const calls = choice?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === "function" && call.function.name)).toEqual(["weather", "traffic"]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    if (choice !== undefined) messages.push(choice.message);
    for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: `result of ${id}` });
    const second = await client.chat.completions.create({ model, messages, tools });
    expect(second.choices[0]?.message.content).toContain(`result of ${calls.at(-1)?.id}`);
    expect(second.choices[0]?.finish_reason).toBe("stop");
  });

  test("an answer with a JSON schema can be parsed, plain and streamed", async () => {
    const jsonSchema = { name: "place", schema: citySchema, strict: true };
    const format = makeParseableResponseFormat({ type: "json_schema", json_schema: jsonSchema }, (text) => {
      return JSON.parse(text) as { city: string };
    });
    const messages: Message[] = [{ role: "user", content: "Which city?" }];
    const parsed = await client.chat.completions.parse({ model, messages, response_format: format });
    expect(parsed.choices[0]?.message.parsed).toEqual({ city: expect.any(String) });
    const stream = client.chat.completions.stream({ model, messages, response_format: format });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual(parsed.choices[0]?.message.parsed);
  });

  test("an answer can be sent back unchanged, and the conversation continues", async () => {
    const messages: Message[] = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ];
    const first = await client.chat.completions.create({ model, messages });
    if (first.choices[0] !== undefined) messages.push(first.choices[0].message);
    messages.push({ role: "user", content: "Say: again" });
    const stream = client.chat.completions.stream({ model, messages });
    const second = await stream.finalChatCompletion();
    expect(second.choices[0]?.message.content).toContain("again");
    expect(second.model).toBe(model);
  });

  test("an inline image is accepted", async () => {
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: "text", text: "Hello, what is this?" },
      { type: "image_url", image_url: { url: pixelUrl } },
    ];
    const answer = await client.chat.completions.create({ model, messages: [{ role: "user", content }] });
    expect(answer.choices[0]?.message.content).toContain("what is this");
  });

  test("a stop sequence ends the answer before it", async () => {
    const messages: Message[] = [{ role: "user", content: "Say: one two HALT three" }];
    const answer = await client.chat.completions.create({ model, messages, stop: ["HALT"] });
    expect(answer.choices[0]?.message.content).toMatch(/one two\s*$/);
    expect(answer.choices[0]?.finish_reason).toBe("stop");
  });

  test("an answer is cut at the requested maximum, with the matching finish reason", async () => {
    const messages: Message[] = [{ role: "user", content: "Say: one two three four five six seven eight" }];
    const answer = await client.chat.completions.create({ model, messages, max_completion_tokens: 3 });
    expect(answer.choices[0]?.finish_reason).toBe("length");
    expect(answer.usage?.completion_tokens).toBe(3);
  });
});

test("several choices stay separate, plain and streamed", async () => {
  for (const model of ["open", "sandbox-chat"]) {
    const body = { model, messages: hello, n: 2 };
    const whole = await client.chat.completions.create(body);
    const chunks = await collect(await client.chat.completions.create({ ...body, stream: true }));
    const texts = whole.choices.map(({ message }) => message.content);
    expect(whole.choices.map(({ index }) => index)).toEqual([0, 1]);
    expect(new Set(texts).size).toBe(2);
    expect([readText(chunks, 0), readText(chunks, 1)]).toEqual(texts);
    const ends = chunks.flatMap(({ choices }) => choices).filter(({ finish_reason: reason }) => reason !== null);
    expect(ends.map(({ index }) => index).sort()).toEqual([0, 1]);
  }
});

test("token probabilities are returned, plain and streamed", async () => {
  for (const model of ["open", "sandbox-chat"]) {
    const body = { model, messages: hello, logprobs: true, top_logprobs: 2 };
    const whole = await client.chat.completions.create(body);
    const tokens = whole.choices[0]?.logprobs?.content ?? [];
    expect(tokens.map(({ token }) => token).join("")).toBe(whole.choices[0]?.message.content);
    for (const token of tokens) {
      expect(sortedKeys(token)).toEqual(["bytes", "logprob", "token", "top_logprobs"]);
      expect(token.top_logprobs).toHaveLength(2);
    }
    const chunks = await collect(await client.chat.completions.create({ ...body, stream: true }));
    const streamed = chunks.flatMap(({ choices }) => choices.flatMap(({ logprobs }) => logprobs?.content ?? []));
    expect(streamed).toEqual(tokens);
  }
});

test.each(["open", "thinking-anthropic", "thinking-google", "packaged"])(
  "%s returns its reasoning and the number of reasoning tokens",
  async (model) => {
    const body = { model, messages: hello, reasoning_effort: "high" as const };
    const behaviour = { thinking: "Let me think first.", text: "Thought through." };
    chat.upstream.script(behaviour, behaviour);
    const whole = await client.chat.completions.create(body);
    expect(whole.choices[0]?.message).toMatchObject({
      reasoning_content: "Let me think first.",
      content: "Thought through.",
    });
    expect(whole.usage?.completion_tokens_details?.reasoning_tokens).toBe(4);
    expect(whole.usage?.completion_tokens).toBe(6);
    const chunks = await collect(
      await client.chat.completions.create({ ...body, stream: true, stream_options: { include_usage: true } }),
    );
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta as { reasoning_content?: string }));
    expect(deltas.map((delta) => delta.reasoning_content ?? "").join("")).toBe("Let me think first.");
    expect(readText(chunks)).toBe("Thought through.");
    expect(chunks.at(-1)?.usage?.completion_tokens_details?.reasoning_tokens).toBe(4);
  },
);

test.each(["thinking-anthropic", "thinking-google"])(
  "%s gets its signed reasoning back with the tool results",
  async (model) => {
    const tools = [offerTool("weather"), offerTool("traffic")];
    const messages: Message[] = [{ role: "user", content: "Please call weather and traffic for Paris" }];
    const body = { model, tools, reasoning_effort: "high" as const };
    const first = await client.chat.completions.create({ ...body, messages });
    const message = first.choices[0]?.message;
    expect(message?.tool_calls).toHaveLength(2);
    if (message !== undefined) messages.push(message);
    for (const { id } of message?.tool_calls ?? []) messages.push({ role: "tool", tool_call_id: id, content: "fine" });
    const second = await client.chat.completions.create({ ...body, messages });
    expect(second.choices[0]?.message.content).toContain("fine");
    expect(chat.upstream.requests.at(-1)?.body.toString()).toContain(
      model === "thinking-google" ? callSignature : thoughtSignature,
    );
  },
);

test("the list of models and each model have the form that the SDK expects", async () => {
  const ids = [];
  for await (const { id, object, owned_by: owner, created } of client.models.list()) {
    expect([object, typeof created]).toEqual(["model", "number"]);
    expect(owner.toLowerCase()).toContain("sluice");
    ids.push(id);
  }
  expect(ids).toEqual(expect.arrayContaining([...clientModels]));
  expect(await client.models.retrieve("anthropic")).toMatchObject({ id: "anthropic", object: "model" });
});

test("the headers of a response carry the request id and the rate limits, plain and streamed", async () => {
  const options = { headers: { "x-client-request-id": "order-7" } };
  const whole = await client.chat.completions.create({ model: "open", messages: hello }, options).withResponse();
  const streamed = await client.chat.completions
    .create({ model: "open", messages: hello, stream: true }, options)
    .withResponse();
  await collect(streamed.data);
  expect(whole.request_id).toBe(`req_${whole.data.id.slice("chatcmpl-".length)}`);
  expect(streamed.request_id).not.toBe(whole.request_id);
  expect(streamed.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  for (const { response, request_id: requestId } of [whole, streamed]) {
    const headers = Object.fromEntries(response.headers);
    expect(requestId).toMatch(/^req_/);
    expect(headers).toMatchObject({
      "x-request-id": requestId,
      "x-client-request-id": "order-7",
      "x-ratelimit-limit": expect.stringMatching(/^\d+$/),
      "x-ratelimit-remaining": expect.stringMatching(/^\d+$/),
      "x-ratelimit-reset": expect.stringMatching(/^\d+$/),
      "x-ratelimit-limit-requests": "600",
      "x-ratelimit-limit-tokens": "1000000",
      "x-ratelimit-reset-tokens": expect.stringMatching(/^(\d+m)?\d+(\.\d+)?m?s$/),
    });
  }
});

test("a caller who aborts a stream stops the upstream and pays for the received part", async () => {
  for (const [model, abort] of [
    ["open", (stream: { controller: AbortController }) => stream.controller.abort()],
    ["anthropic", (stream: { controller: AbortController }) => stream.controller.abort()],
    ["google", (_stream: unknown, signal: AbortController) => signal.abort()],
    ["packaged", (_stream: unknown, signal: AbortController) => signal.abort()],
  ] as const) {
    const own = await chat.createCaller();
    const gate = chat.upstream.gate();
    const abortedBefore = chat.upstream.abortedCalls().length;
    chat.upstream.script({ beforePiece: gate, pieces: ["one", " two", " three"] });
    const signal = new AbortController();
    const stream = await own.client.chat.completions.create(
      { model, messages: hello, stream: true },
      { signal: signal.signal },
    );
    gate.release(1);
    let text = "";
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      if (text === "one") abort(stream, signal);
    }
    expect(text).toBe("one");
    await chat.upstream.aborted(abortedBefore + 1);
    await own.settled();
    const [charge, ...more] = await own.listCharges();
    expect([charge?.items.counted_output_tokens, more]).toEqual([1, []]);
  }
});

test("a caller who leaves the loop stops the upstream; one who aborts a plain response pays for it", async () => {
  const own = await chat.createCaller();
  const gate = chat.upstream.gate();
  const abortedBefore = chat.upstream.abortedCalls().length;
  const wholeGate = chat.upstream.gate();
  chat.upstream.script({ beforePiece: gate, pieces: ["one", " two"] }, { beforeHead: wholeGate });
  gate.release(1);
  for await (const chunk of await own.client.chat.completions.create({
    model: "open",
    messages: hello,
    stream: true,
  })) {
    if (chunk.choices[0]?.delta.content === "one") break;
  }
  await chat.upstream.aborted(abortedBefore + 1);
  const controller = new AbortController();
  const { signal } = controller;
  const refused = own.client.chat.completions.create({ model: "open", messages: hello }, { signal });
  await wholeGate.reached();
  controller.abort();
  await expect(refused).rejects.toBeInstanceOf(APIUserAbortError);
  wholeGate.open();
  await own.settled();
  expect(await own.listCharges()).toHaveLength(2);
  expect(chat.upstream.abortedCalls()).toHaveLength(abortedBefore + 1);
});
