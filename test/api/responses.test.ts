import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { citySchema, pixelUrl, writeClientCatalog } from "../harness/chat/client-catalog.ts";
import { thoughtSignature } from "../harness/upstreams/parse-anthropic-ask.ts";
import { callSignature } from "../harness/upstreams/parse-gemini-ask.ts";

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Event = OpenAI.Responses.ResponseStreamEvent;

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

const weather = {
  type: "function" as const,
  name: "weather",
  description: "The weather of a city",
  parameters: citySchema,
  strict: false,
};

const usageShape = {
  input_tokens: expect.any(Number),
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: expect.any(Number),
  output_tokens_details: { reasoning_tokens: expect.any(Number) },
  total_tokens: expect.any(Number),
  charge: expect.stringMatching(/^\d+\.\d{2,}$/),
};

/** What differs from one response to the next, however alike they are. */
function strip(value: unknown): unknown {
  const text = JSON.stringify(value, (key, inner) =>
    ["id", "created_at", "completed_at", "call_id", "_request_id", "parsed", "output_parsed"].includes(key)
      ? undefined
      : inner,
  );
  return JSON.parse(text);
}

async function streamRaw(body: Params): Promise<Event[]> {
  return await Array.fromAsync(await client.responses.create({ ...body, stream: true }));
}

const models = ["open", "anthropic", "google"] as const;

describe.each(models)("%s", (model) => {
  test("a response has the vendor's fields, and says what it cost", async () => {
    const own = await chat.createCaller();
    const response = await own.client.responses.create({ model, input: "Hello", instructions: "Be short." });
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model,
      instructions: "Be short.",
      output_text: expect.stringContaining("Hello"),
      error: null,
      incomplete_details: null,
      usage: usageShape,
    });
    expect(response.output).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Echo: Hello", annotations: [], logprobs: [] }],
      },
    ]);
    expect(response.id.slice("resp_".length)).toBe(response._request_id?.slice("req_".length));
    const { charge } = response.usage as unknown as { charge: string };
    expect((await own.listCharges()).map(({ paid }) => paid)).toEqual([charge]);
  });

  test("the events of a stream come in the vendor's order, numbered, and the SDK makes the whole response of them", async () => {
    const whole = await client.responses.create({ model, input: "Hello there" });
    const events = await streamRaw({ model, input: "Hello there" });
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type);
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const streamed = await client.responses.stream({ model, input: "Hello there" }).finalResponse();
    expect(strip(streamed)).toEqual(strip(whole));
  });

  test("tools are called, streamed or not, and their outputs are understood", async () => {
    const asked: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Please call weather for Paris" }];
    const whole = await client.responses.create({ model, input: asked, tools: [weather], tool_choice: "auto" });
    const streamed = await client.responses.stream({ model, input: asked, tools: [weather] }).finalResponse();
    const call = streamed.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({ name: "weather", status: "completed", call_id: expect.any(String) });
    expect(JSON.parse(call?.arguments ?? "")).toEqual({ city: expect.any(String) });
    expect(whole.output.map(({ type }) => type)).toEqual(streamed.output.map(({ type }) => type));
    const output = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "Rain" };
    const input = [...asked, ...(streamed.output as OpenAI.Responses.ResponseInput), output];
    const answer = await client.responses.create({ model, input, tools: [weather] });
    expect(answer.output_text).toMatch(/^The tool says: .*Rain/);
  });

  test("a tool of a namespace is called by both of its names, and its output is understood", async () => {
    const asked: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Please call earth__weather for Paris" }];
    const earth = { type: "namespace" as const, name: "earth", description: "All of it", tools: [weather] };
    const whole = await client.responses.create({ model, input: asked, tools: [earth] });
    const streamed = await client.responses.stream({ model, input: asked, tools: [earth] }).finalResponse();
    const call = streamed.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({ namespace: "earth", name: "weather", status: "completed" });
    expect(whole.output.at(-1)).toMatchObject({ namespace: "earth", name: "weather" });
    const output = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "Rain" };
    const input = [...asked, ...(streamed.output as OpenAI.Responses.ResponseInput), output];
    expect((await client.responses.create({ model, input, tools: [earth] })).output_text).toContain("Rain");
  });

  test("an answer in the form of a schema is parsed by the SDK", async () => {
    const format = { type: "json_schema" as const, name: "place", schema: citySchema, strict: true };
    const response = await client.responses.parse({ model, input: "Where?", text: { format } });
    expect(JSON.parse(response.output_text)).toEqual({ city: expect.any(String) });
    expect(response.text).toMatchObject({ format });
  });

  test("a cap of tokens makes a response incomplete, and says so", async () => {
    const events = await streamRaw({ model, input: "one two three four five six", max_output_tokens: 16 });
    expect(events.at(-1)?.type).toBe("response.completed");
    const short = { model, input: "one two three four", max_output_tokens: 2 };
    const whole = await client.responses.create(short);
    expect(whole).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    const last = (await streamRaw(short)).at(-1);
    expect(last?.type).toBe("response.incomplete");
    expect(last).toMatchObject({ response: { output: [{ status: "incomplete" }], usage: usageShape } });
  });
});

describe.each(["thinking-anthropic", "thinking-google"])("%s", (model) => {
  const reasoning = { effort: "low" as const };
  test("what the model thinks is a reasoning item, as a summary where one is asked for", async () => {
    const plain = await client.responses.create({ model, input: "Hello", reasoning });
    expect(plain.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
    expect(plain.output[0]).toMatchObject({ summary: [], content: [{ type: "reasoning_text", text: /./ }] });
    const streamed = await client.responses.stream({ model, input: "Hello", reasoning }).finalResponse();
    expect(strip(streamed.output[0])).toEqual(strip(plain.output[0]));
    const events = await streamRaw({ model, input: "Hello", reasoning: { ...reasoning, summary: "auto" } });
    const types = new Set(events.map(({ type }) => type).filter((type) => type.includes("reasoning")));
    expect([...types]).toEqual([
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
    ]);
  });

  test("thoughts with a mark come back to the model with its tool's output, also when the client kept only the mark", async () => {
    const include: OpenAI.Responses.ResponseIncludable[] = ["reasoning.encrypted_content"];
    const asked: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Please call weather for Paris" }];
    const first = await client.responses.create({ model, input: asked, tools: [weather], reasoning, include });
    const [thought, call] = first.output;
    expect(first.output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
    const mark = thought?.type === "reasoning" ? thought.encrypted_content : null;
    expect(mark).toMatch(/^sluice-1\./);
    const kept = { type: "reasoning" as const, id: thought?.id ?? "", summary: [], encrypted_content: mark ?? "" };
    const callId = call?.type === "function_call" ? call.call_id : "";
    const output = { type: "function_call_output" as const, call_id: callId, output: "Rain" };
    const input = [...asked, kept, call as OpenAI.Responses.ResponseFunctionToolCall, output];
    const callsBefore = chat.upstream.requests.length;
    const answer = await client.responses.create({ model, input, tools: [weather], reasoning, include });
    expect(answer.output_text).toMatch(/^The tool says: .*Rain/);
    const sent = JSON.stringify(chat.upstream.requests[callsBefore]?.json);
    expect(sent).toContain(model === "thinking-google" ? callSignature : thoughtSignature);
  });
});

test("images, files, custom tools and logprobs go to an upstream that takes them", async () => {
  const response = await client.responses.create({
    model: "open",
    input: [
      { role: "developer", content: "Look." },
      {
        role: "user",
        content: [
          { type: "input_text", text: "What?" },
          { type: "input_image", image_url: pixelUrl, detail: "low" },
        ],
      },
    ],
    include: ["message.output_text.logprobs"],
    top_logprobs: 2,
  });
  const [message] = response.output;
  const [part] = message?.type === "message" ? message.content : [];
  expect(part?.type === "output_text" && part.logprobs?.map(({ token }) => token).join("")).toBe(response.output_text);
  const call = await client.responses
    .stream({
      model: "open",
      input: "Please call shout now",
      tools: [{ type: "custom", name: "shout", format: { type: "grammar", syntax: "regex", definition: ".*" } }],
    })
    .finalResponse();
  expect(call.output).toMatchObject([{ type: "custom_tool_call", name: "shout", input: "Please call shout now" }]);
});

describe("what cannot be done is refused by name, before anything is charged", () => {
  const user = { role: "user", content: "Hello" };
  test.each([
    ["no input", {}, "missing_parameter", "input"],
    ["an unknown field", { input: "Hi", n: 2 }, "unknown_parameter", "n"],
    ["a hosted tool", { input: "Hi", tools: [{ type: "web_search" }] }, "unsupported_capability", "tools[0]"],
    ["an item of one", { input: [user, { type: "mcp_call" }] }, "unsupported_capability", "input[1]"],
    ["a stored prompt", { input: "Hi", prompt: { id: "pmpt_1" } }, "unsupported_capability", "prompt"],
    ["a conversation", { input: "Hi", conversation: "conv_1" }, "unsupported_capability", "conversation"],
    [
      "compaction",
      { input: "Hi", context_management: [{ type: "compaction" }] },
      "unsupported_capability",
      "context_management",
    ],
    ["a tool without a name", { input: "Hi", tools: [{ type: "function" }] }, "invalid_parameter", "tools[0].name"],
    [
      "a choice of no tool",
      { input: "Hi", tool_choice: { type: "function", name: "x" } },
      "invalid_parameter",
      "tool_choice",
    ],
    [
      "a file by address",
      { input: [{ role: "user", content: [{ type: "input_file", file_url: "https://example.com/a.pdf" }] }] },
      "unsupported_capability",
      "input[0].content[0].file_url",
    ],
    [
      "an unusable image",
      { input: [user, { role: "user", content: [{ type: "input_image", image_url: "ftp://x" }] }] },
      "invalid_url",
      "input[1]",
    ],
    [
      "an output of no call",
      { input: [{ type: "function_call_output", output: "x" }] },
      "missing_parameter",
      "input[0].call_id",
    ],
    ["too many tokens", { input: "Hi", max_output_tokens: 1001 }, "invalid_parameter", "max_output_tokens"],
    [
      "no schema",
      { input: "Hi", text: { format: { type: "json_schema", name: "x" } } },
      "invalid_parameter",
      "text.format.schema",
    ],
    ["a media model", { input: "Hi", model: "nothing" }, "model_unavailable", "model"],
  ])("%s", async (_name, fields, code, param) => {
    const own = await chat.createCaller();
    const callsBefore = chat.upstream.requests.length;
    const error = await own.client.responses
      .create({ model: "open", ...fields } as Params)
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, param });
    expect(chat.upstream.requests.length).toBe(callsBefore);
    expect(await own.listHolds()).toEqual([]);
  });

  test("an account without money is told so, and calls nobody", async () => {
    const poor = await chat.createCaller({ cash: "0" });
    const asked = poor.client.responses.create({ model: "open", input: "Hello" });
    await expect(asked).rejects.toMatchObject({ status: 402, code: "insufficient_balance" });
  });
});

test("a stream that breaks off ends with an error and the failed response, and what was written is charged", async () => {
  const own = await chat.createCaller();
  chat.upstream.script({ pieces: ["One", " two", " three"], cut: { afterPieces: 2 } });
  const raw = await chat.fetch(`${chat.gateway.baseUrl}/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${own.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "open", input: "Hello", stream: true }),
  });
  const events = (await raw.text()).split("\n\n").flatMap((event) => event.match(/^data: (.*)$/m)?.[1] ?? []);
  const [error, failed] = events.slice(-2).map((data) => JSON.parse(data));
  expect(error).toMatchObject({ type: "error", code: "upstream_unavailable" });
  expect(failed).toMatchObject({ type: "response.failed", sequence_number: error.sequence_number + 1 });
  expect(failed.response).toMatchObject({ status: "failed", error: { code: "server_error" } });
  await own.settled();
  expect(await own.listCharges()).toHaveLength(1);
});
