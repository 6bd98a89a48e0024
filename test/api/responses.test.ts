// @module-tag slow
import { createOpenAI } from "@ai-sdk/openai";
import { Agent, tool as agentTool, OpenAIProvider, Runner } from "@openai/agents";
import { generateText, isStepCount, jsonSchema, type LanguageModel, Output, streamText, tool } from "ai";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sweepExpiredResponses } from "../../src/features/responses/index.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { citySchema, pixelUrl, writeClientCatalog } from "../harness/chat/client-catalog.ts";
import { createGate, endlessSilence } from "../harness/upstreams/gate.ts";
import { thoughtSignature } from "../harness/upstreams/parse-anthropic-ask.ts";
import { callSignature } from "../harness/upstreams/parse-gemini-ask.ts";
import { waitUntil } from "../harness/wait-until.ts";

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

/** The fields that differ between two equal responses. */
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
  test("a response has the vendor's fields, and its cost", async () => {
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

  test("stream events are numbered, in the vendor's order, and the SDK builds the response from them", async () => {
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

  test("tools are called, streamed or not, and the model uses their outputs", async () => {
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

  test("a tool of a namespace is called by both of its names, and the model uses its output", async () => {
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

  test("a client searches its own tools, and the model uses those that were found", async () => {
    const parameters = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
    const search = {
      type: "tool_search" as const,
      execution: "client" as const,
      description: "Finds tools",
      parameters,
    };
    const asked: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Please call tool_search first" }];
    const whole = await client.responses.create({ model, input: asked, tools: [search] });
    const events = await streamRaw({ model, input: asked, tools: [search] });
    const added = events.find(({ type }) => type === "response.output_item.added");
    expect(added).toMatchObject({ item: { type: "tool_search_call", execution: "client", status: "in_progress" } });
    expect(events.map(({ type }) => type).filter((type) => type.includes("arguments"))).toEqual([]);
    const call = whole.output.at(-1);
    expect(call).toMatchObject({
      ...{ type: "tool_search_call", execution: "client", status: "completed", call_id: expect.any(String) },
      arguments: { query: expect.any(String) },
    });
    const earth = { type: "namespace" as const, name: "earth", description: "All of it" };
    const later = { ...weather, defer_loading: true };
    const found = [later, { ...earth, tools: [{ ...later, name: "tides" }] }];
    const answerTo = (searched: unknown) => ({
      ...{ type: "tool_search_output", execution: "client", status: "completed", tools: found },
      call_id: (searched as { call_id: string }).call_id,
    });
    const once = [...asked, call, answerTo(call)] as OpenAI.Responses.ResponseInput;
    const next = await client.responses.create({ model, input: once, tools: [search] });
    expect(next.output_text).toContain("You can now use these tools: weather, earth.");
    // The second search finds the same tools.
    const again = { ...call, call_id: "call_again" };
    const rest = [
      { role: "assistant", content: "Ready." },
      { role: "user", content: "Please call earth__tides" },
    ];
    const twice = [...once, again, answerTo(again), ...rest] as OpenAI.Responses.ResponseInput;
    const called = await client.responses.create({ model, input: twice, tools: [search] });
    expect(called.output.at(-1)).toMatchObject({ type: "function_call", namespace: "earth", name: "tides" });
    const wrong = (tools: unknown) =>
      client.responses.create({
        model,
        input: [...asked, call, { ...answerTo(call), tools }] as never,
        tools: [search],
      });
    await expect(wrong([later, "weather"])).rejects.toThrow("`input[2].tools[1]` must be a tool.");
    await expect(wrong(undefined)).rejects.toThrow("`input[2].tools` must be a list of tools.");
    const byVendor = client.responses.create({ model, input: "Hi", tools: [{ type: "tool_search" }] });
    await expect(byVendor).rejects.toThrow("This model does not support the tool tool_search.");
  });

  test("the SDK parses an answer with a schema", async () => {
    const format = { type: "json_schema" as const, name: "place", schema: citySchema, strict: true };
    const response = await client.responses.parse({ model, input: "Where?", text: { format } });
    expect(JSON.parse(response.output_text)).toEqual({ city: expect.any(String) });
    expect(response.text).toMatchObject({ format });
  });

  test("a token cap makes a response incomplete, with the reason", async () => {
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
  test("reasoning is returned as a reasoning item, with a summary on request", async () => {
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

  test("marked reasoning is sent back with the tool's output, even if the client kept only the mark", async () => {
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

test("images, files, custom tools and logprobs reach an upstream that supports them", async () => {
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

describe("images in the output of a tool", () => {
  const call = (id: string) => ({
    type: "function_call" as const,
    call_id: id,
    name: "view_image",
    arguments: '{"path":"/pic.png"}',
  });
  /** As Codex sends it after its tool `view_image`. */
  const view = (id: string, image_url = pixelUrl) => ({
    type: "function_call_output" as const,
    call_id: id,
    output: [{ type: "input_image" as const, image_url, detail: "high" as const }],
  });
  const user = { role: "user" as const, content: "Look" };
  const told = {
    type: "function_call_output" as const,
    call_id: "b",
    output: [{ type: "input_text" as const, text: "b" }],
  };

  test("follow the outputs of all parallel calls as a user message", async () => {
    const input = [user, call("a"), call("b"), view("a"), told, { role: "user" as const, content: "And?" }];
    await client.responses.create({ model: "open", input });
    const { messages } = (chat.upstream.requests.at(-1)?.json ?? {}) as { messages?: unknown };
    expect(messages).toEqual([
      user,
      expect.objectContaining({ role: "assistant" }),
      { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "The result is attached below." }] },
      { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "b" }] },
      { role: "user", content: [{ type: "image_url", image_url: { url: pixelUrl, detail: "high" } }] },
      { role: "user", content: "And?" },
    ]);
  });

  test.each(["open", "anthropic", "google"])("reach %s as the last item", async (id) => {
    await client.responses.create({ model: id, input: [user, call("a"), view("a")] });
    expect(String(chat.upstream.requests.at(-1)?.body)).toContain(pixelUrl.split(",")[1]);
  });

  test("are rejected by the caller's own name", async () => {
    const input = [user, call("a"), view("a", "ftp://x")];
    await expect(client.responses.create({ model: "open", input })).rejects.toMatchObject({
      status: 400,
      param: "input[2].output[0].image_url",
    });
  });
});

describe("an unsupported request is rejected by name, before any charge", () => {
  const user = { role: "user", content: "Hello" };
  test.each([
    ["no input", {}, "missing_parameter", "input"],
    ["an unknown field", { input: "Hi", n: 2 }, "unknown_parameter", "n"],
    ["a hosted tool", { input: "Hi", tools: [{ type: "web_search" }] }, "unsupported_capability", "tools[0]"],
    ["a hosted tool's item", { input: [user, { type: "mcp_call" }] }, "unsupported_capability", "input[1]"],
    ["a stored prompt", { input: "Hi", prompt: { id: "pmpt_1" } }, "unsupported_capability", "prompt"],
    ["a missing conversation", { input: "Hi", conversation: "conv_1" }, "not_found", "conversation"],
    ["a conversation without an id", { input: "Hi", conversation: {} }, "invalid_parameter", "conversation.id"],
    [
      "two things to continue",
      { input: "Hi", conversation: "conv_1", previous_response_id: "resp_1" },
      "invalid_parameter",
      "previous_response_id",
    ],
    [
      "compaction",
      { input: "Hi", context_management: [{ type: "compaction" }] },
      "unsupported_capability",
      "context_management",
    ],
    ["a tool without a name", { input: "Hi", tools: [{ type: "function" }] }, "invalid_parameter", "tools[0].name"],
    [
      "a choice of an unknown tool",
      { input: "Hi", tool_choice: { type: "function", name: "x" } },
      "invalid_parameter",
      "tool_choice",
    ],
    [
      "a file by URL",
      { input: [{ role: "user", content: [{ type: "input_file", file_url: "https://example.com/a.pdf" }] }] },
      "unsupported_capability",
      "input[0].content[0].file_url",
    ],
    [
      "an unusable image",
      { input: [user, { role: "user", content: [{ type: "input_image", image_url: "ftp://x" }] }] },
      "invalid_url",
      "input[1].content[0].image_url",
    ],
    [
      "an output without a call",
      { input: [{ type: "function_call_output", output: "x" }] },
      "missing_parameter",
      "input[0].call_id",
    ],
    [
      "a file that the model does not take",
      {
        instructions: "Be brief.",
        input: [
          user,
          {
            role: "user",
            content: [
              { type: "input_text", text: "Read this." },
              { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" },
            ],
          },
        ],
      },
      "unsupported_capability",
      "input[1].content[1]",
    ],
    [
      "an output of an unknown call",
      {
        model: "google",
        instructions: "x",
        input: [user, { type: "function_call_output", call_id: "a", output: "b" }],
      },
      "unsupported_capability",
      "input[1].call_id",
    ],
    [
      "arguments that are no JSON",
      {
        ...{ model: "google", tools: [weather] },
        input: [
          user,
          { type: "function_call", call_id: "a", name: "weather", arguments: "{" },
          { type: "function_call_output", call_id: "a", output: "b" },
        ],
      },
      "unsupported_capability",
      "input[1].arguments",
    ],
    [
      "a custom tool after a namespace",
      {
        ...{ model: "google", input: "Hi" },
        tools: [
          { type: "namespace", name: "city", description: "x", tools: [weather, { ...weather, name: "traffic" }] },
          { type: "custom", name: "own" },
        ],
      },
      "unsupported_capability",
      "tools[1]",
    ],
    [
      "two tools with one name",
      { input: "Hi", tools: [{ type: "namespace", name: "city", tools: [weather] }, weather, weather] },
      "invalid_parameter",
      "tools[2].name",
    ],
    [
      "a choice of a tool that is not offered",
      { input: "Hi", tools: [weather], tool_choice: { type: "function", name: "x" } },
      "invalid_parameter",
      "tool_choice.name",
    ],
    [
      "a choice among tools that are not offered",
      {
        ...{ input: "Hi", tools: [weather] },
        tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "x" }] },
      },
      "invalid_parameter",
      "tool_choice.tools[0]",
    ],
    [
      "logprobs of a model without them",
      { model: "google", input: "Hi", include: ["message.output_text.logprobs"] },
      "unsupported_capability",
      "include",
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
    expect(String(error)).not.toMatch(/messages|max_completion_tokens|response_format|logprobs/);
    expect(chat.upstream.requests.length).toBe(callsBefore);
    expect(await own.listHolds()).toEqual([]);
  });

  test("in a continued conversation, by the place in the request itself", async () => {
    const { id } = await client.responses.create({ model: "open", input: "Hello" });
    const content = [{ type: "input_image" as const, image_url: "ftp://x", detail: "auto" as const }];
    const continued = client.responses.create({
      ...{ model: "open", previous_response_id: id },
      input: [{ role: "user", content }],
    });
    await expect(continued).rejects.toMatchObject({ code: "invalid_url", param: "input[0].content[0].image_url" });
  });

  test("by an upstream, by the caller's names", async () => {
    const texts = [{ type: "input_text" as const, text: "Hello" }];
    const cases = [
      ["messages[1].content[0].text", "input[0].content[0].text"],
      ["messages[0]", "instructions"],
      ["max_completion_tokens", "max_output_tokens"],
      ["response_format.json_schema.schema", "text.format.schema"],
    ] as const;
    for (const [param, place] of cases) {
      chat.upstream.script({ status: 400, error: { param, message: "This is wrong." } });
      const input = [{ role: "user" as const, content: texts }];
      const asked = client.responses.create({ model: "open", instructions: "Be brief.", input });
      const message = expect.stringContaining(`\`${place}\``);
      await expect(asked).rejects.toMatchObject({ status: 400, code: "invalid_parameter", param: place, message });
    }
  });

  test("an account without money gets a 402, and no upstream is called", async () => {
    const poor = await chat.createCaller({ cash: "0" });
    const asked = poor.client.responses.create({ model: "open", input: "Hello" });
    await expect(asked).rejects.toMatchObject({ status: 402, code: "insufficient_balance" });
  });
});

test("a stream that breaks off ends with an error and the failed response, and its output is charged", async () => {
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

test("a caller who disconnects pays for the generated part", async () => {
  const own = await chat.createCaller();
  chat.upstream.script({ pieces: ["One", " two"], beforeEnd: endlessSilence });
  const stream = await own.client.responses.create({ model: "open", input: "Hello", stream: true });
  for await (const event of stream) if (event.type === "response.output_text.delta" && event.delta === " two") break;
  await own.settled();
  expect((await own.listCharges())[0]?.items).toMatchObject({ hung_up: 1 });
});

describe("a stored response", () => {
  const model = "open";

  test("is continued, read, listed and deleted by its own account only", async () => {
    const first = await client.responses.create({ model, input: "My name is Ada", instructions: "Be short." });
    expect(first).toMatchObject({ store: true });
    const callsBefore = chat.upstream.requests.length;
    const second = await client.responses.create({ model, input: "And yours?", previous_response_id: first.id });
    const { messages } = (chat.upstream.requests[callsBefore]?.json ?? {}) as { messages: { role: string }[] };
    // Instructions apply to their own response only.
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(second.previous_response_id).toBe(first.id);
    expect(strip(await client.responses.retrieve(second.id))).toEqual(strip(second));

    const items = await Array.fromAsync(client.responses.inputItems.list(second.id, { limit: 2, order: "asc" }));
    expect(items.map((item) => (item.type === "message" ? [item.role, item.content] : item.type))).toMatchObject([
      ["user", [{ type: "input_text", text: "My name is Ada" }]],
      ["assistant", [{ type: "output_text" }]],
      ["user", [{ type: "input_text", text: "And yours?" }]],
    ]);
    const newest = await client.responses.inputItems.list(second.id, { limit: 1 });
    expect(newest).toMatchObject({ has_more: true, data: [{ id: items.at(-1)?.id }] });

    const stranger = await chat.createCaller();
    const missing = { status: 404, code: "not_found" };
    await expect(stranger.client.responses.retrieve(first.id)).rejects.toMatchObject(missing);
    const theirs = stranger.client.responses.create({ model, input: "Hi", previous_response_id: first.id });
    await expect(theirs).rejects.toMatchObject({ ...missing, param: "previous_response_id" });

    await client.responses.delete(first.id);
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject(missing);
    await expect(client.responses.create({ model, input: "x", previous_response_id: second.id })).rejects.toMatchObject(
      missing,
    );
  });

  test("accepts outputs for its calls by reference, streamed or not", async () => {
    const asked = { model, input: "Please call weather for Paris", tools: [weather] };
    for (const first of [await client.responses.create(asked), await client.responses.stream(asked).finalResponse()]) {
      const [call] = first.output;
      const callId = call?.type === "function_call" ? call.call_id : "";
      const output = { type: "function_call_output" as const, call_id: callId, output: "Rain" };
      const chained = await client.responses.create({ ...asked, input: [output], previous_response_id: first.id });
      expect(chained.output_text).toBe("The tool says: Rain");
      const reference = { type: "item_reference" as const, id: call?.id ?? "" };
      const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: asked.input }, reference, output];
      expect((await client.responses.create({ ...asked, input })).output_text).toBe("The tool says: Rain");
    }
    const lost = client.responses.create({ model, input: [{ type: "item_reference", id: "msg_1" }] });
    await expect(lost).rejects.toMatchObject({ status: 404, param: "input[0].id" });
  });

  test("is not stored if the caller opts out, and is not reported as stored if storing failed", async () => {
    const own = await chat.createCaller();
    const unkept = await own.client.responses.create({ model, input: "Hello", store: false });
    expect(unkept).toMatchObject({ store: false });
    await expect(own.client.responses.retrieve(unkept.id)).rejects.toMatchObject({ status: 404 });
    const rows = await chat.gateway.database
      .selectFrom("responses")
      .selectAll()
      .where("account_id", "=", own.accountId)
      .execute();
    expect(rows).toEqual([]);
  });

  test("expires, but not before the responses that continue it", async () => {
    const own = await chat.createCaller();
    const first = await own.client.responses.create({ model, input: "One" });
    const second = await own.client.responses.create({ model, input: "Two", previous_response_id: first.id });
    const { database } = chat.gateway;
    const past = new Date(Date.now() - 1000);
    await database.updateTable("responses").set({ expires_at: past }).where("id", "=", first.id).execute();
    const count = async () =>
      (await database.selectFrom("responses").select("id").where("account_id", "=", own.accountId).execute()).length;
    const now = new Date();
    await sweepExpiredResponses(database, now);
    expect(await count()).toBe(2);
    await own.client.responses.create({ model, input: "Three", previous_response_id: second.id, store: false });
    await database.updateTable("responses").set({ expires_at: past }).where("id", "=", second.id).execute();
    await sweepExpiredResponses(database, now);
    expect(await count()).toBe(0);
  });

  test("with a key is created and charged once, and replayed unchanged", async () => {
    const own = await chat.createCaller();
    const options = { headers: { "idempotency-key": "response-1" } };
    const first = await own.client.responses.create({ model, input: "Hello" }, options);
    const again = await own.client.responses.create({ model, input: "Hello" }, options);
    expect(again.id).toBe(first.id);
    expect(await own.listCharges()).toHaveLength(1);
  });
});

describe("a conversation", () => {
  const model = "open";
  const say = (role: "user" | "assistant", content: string) => ({ role, content });
  const listTexts = async (own: ChatCaller, id: string) =>
    (await Array.fromAsync(own.client.conversations.items.list(id, { order: "asc", limit: 2 }))).map((item) =>
      item.type === "message"
        ? item.content.map((part) => ("text" in part ? part.text : part.type)).join("")
        : item.type,
    );

  test("is created, annotated, filled, read and deleted with the vendor's client", async () => {
    const own = await chat.createCaller();
    const { conversations } = own.client;
    const empty = await conversations.create();
    expect(empty).toMatchObject({ object: "conversation", metadata: {}, id: expect.stringMatching(/^conv_/) });
    const items = [say("user", "One"), say("assistant", "Two")];
    const { id } = await conversations.create({ items, metadata: { topic: "counting" } });
    expect(await conversations.update(id, { metadata: { topic: "more" } })).toMatchObject({
      metadata: { topic: "more" },
    });
    expect(await conversations.retrieve(id)).toMatchObject({ id, metadata: { topic: "more" } });
    const added = await conversations.items.create(id, { items: [say("user", "Three")] });
    expect(added.data).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Three" }] },
    ]);
    expect(await listTexts(own, id)).toEqual(["One", "Two", "Three"]);
    const newest = await conversations.items.list(id, { limit: 1 });
    expect(newest).toMatchObject({ has_more: true, data: [{ id: added.first_id }] });

    const itemId = added.first_id;
    expect(await conversations.items.retrieve(itemId, { conversation_id: id })).toMatchObject({ id: itemId });
    // Existing items keep their place.
    await conversations.items.create(id, { items: [{ ...say("user", "Another three"), id: itemId } as never] });
    expect(await conversations.items.delete(itemId, { conversation_id: id })).toMatchObject({ id });
    expect(await listTexts(own, id)).toEqual(["One", "Two"]);
    const { database } = chat.gateway;
    const row = await database.selectFrom("conversations").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const stored = await database
      .selectFrom("conversation_items")
      .select("item")
      .where("conversation_id", "=", id)
      .execute();
    expect([row.item_count, Number(row.bytes)]).toEqual([2, stored.reduce((sum, { item }) => sum + item.length, 0)]);

    let deep: unknown = "x";
    for (let level = 0; level < 100; level += 1) deep = [deep];
    for (const [item, param] of [
      [{ role: "nobody", content: "x" }, "items[0].role"],
      [{ ...say("user", "x"), id: "x".repeat(5000) }, "items[0].id"],
      [{ ...say("user", "x"), id: 7 }, "items[0].id"],
      [{ ...say("user", "x"), more: deep }, "items"],
    ] as const) {
      const wrong = conversations.items.create(id, { items: [item as never] });
      await expect(wrong).rejects.toMatchObject({ status: 400, param });
    }
    const named: OpenAI.Responses.ResponseInput = [{ ...say("user", "Five"), id: "x".repeat(5000) } as never];
    expect(await own.client.responses.create({ model, input: named, conversation: id })).toMatchObject({
      conversation: { id },
    });
    expect(await conversations.delete(id)).toEqual({ id, object: "conversation.deleted", deleted: true });
    await expect(conversations.retrieve(id)).rejects.toMatchObject({ status: 404, param: "conversation_id" });
  });

  test("is extended by each response that names it: plain, streamed or in the background, stored or not", async () => {
    const own = await chat.createCaller();
    const { conversations, responses } = own.client;
    const { id } = await conversations.create({ items: [say("user", "My name is Ada")] });
    chat.upstream.script({ text: "Hello Ada" });
    const whole = await responses.create({ model, input: "Greet me", conversation: id });
    expect(whole).toMatchObject({ conversation: { id }, store: true });
    chat.upstream.script({ text: "Again, Ada" });
    const streamed = await responses
      .stream({ model, input: "Once more", conversation: { id }, store: false })
      .finalResponse();
    expect(streamed).toMatchObject({ conversation: { id }, store: false });
    chat.upstream.script({ text: "Bye Ada" });
    const begun = await responses.create({ model, input: "And again", conversation: id, background: true });
    await waitUntil("the response to be over", async () => (await responses.retrieve(begun.id)).status === "completed");
    const said = ["My name is Ada", "Greet me", "Hello Ada", "Once more", "Again, Ada", "And again", "Bye Ada"];
    expect(await listTexts(own, id)).toEqual(said);
    const { messages } = (chat.upstream.requests.at(-1)?.json ?? {}) as { messages: { content: string }[] };
    expect(messages).toHaveLength(6);
    await expect(responses.retrieve(streamed.id)).rejects.toMatchObject({ status: 404 });

    // A failed or replayed response adds nothing.
    chat.upstream.script({ status: 400, error: { message: "No" } });
    await expect(responses.create({ model, input: "Fail", conversation: id })).rejects.toMatchObject({ status: 400 });
    const options = { headers: { "idempotency-key": "conversation-1" } };
    for (let time = 0; time < 2; time += 1) await responses.create({ model, input: "Key", conversation: id }, options);
    expect((await listTexts(own, id)).slice(said.length)).toEqual(["Key", expect.any(String)]);
  });

  test("that is unused for long is deleted with its items", async () => {
    const own = await chat.createCaller();
    const { id } = await own.client.conversations.create({ items: [say("user", "One")] });
    const { database } = chat.gateway;
    const past = new Date(Date.now() - 1000);
    await database.updateTable("conversations").set({ expires_at: past }).where("id", "=", id).execute();
    await expect(own.client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await sweepExpiredResponses(database, new Date());
    for (const [table, column] of [
      ["conversations", "id"],
      ["conversation_items", "conversation_id"],
    ] as const) {
      expect(
        await database
          .selectFrom(table)
          .selectAll()
          .where(column as never, "=", id as never)
          .execute(),
      ).toEqual([]);
    }
  });
});

describe("a background response", () => {
  const model = "open";
  const untilOver = (own: ChatCaller, id: string) =>
    waitUntil("the response to be over", async () => {
      const response = await own.client.responses.retrieve(id);
      return response.status === "in_progress" ? null : response;
    });

  test("continues after its caller has disconnected, and can be polled", async () => {
    const own = await chat.createCaller();
    const gate = createGate();
    chat.upstream.script({ beforeHead: gate, text: "Done at last" });
    const begun = await own.client.responses.create({ model, input: "Take your time", background: true });
    expect(begun).toMatchObject({ status: "in_progress", background: true, output: [] });
    gate.open();
    const response = await untilOver(own, begun.id);
    expect(response).toMatchObject({ status: "completed", output_text: "Done at last", usage: usageShape });
    expect(await own.listCharges()).toHaveLength(1);
    const unstreamed = own.client.responses.retrieve(begun.id, { stream: true });
    await expect(unstreamed).rejects.toMatchObject({ status: 400, param: "stream" });
  });

  test("is streamed, and can be resumed from any event", async () => {
    const own = await chat.createCaller();
    const asked = { model, input: "Hello there", background: true, stream: true as const };
    const events = await Array.fromAsync(await own.client.responses.create(asked));
    expect(events.at(-1)?.type).toBe("response.completed");
    const [first] = events;
    const id = first?.type === "response.created" ? first.response.id : "";
    const later = await Array.fromAsync(await own.client.responses.retrieve(id, { stream: true, starting_after: 3 }));
    expect(later).toEqual(events.slice(4));
  });

  test("is cancelled, and the generated part is charged", async () => {
    const own = await chat.createCaller();
    const gate = createGate();
    chat.upstream.script({ pieces: ["One", " two"], beforeEnd: gate });
    const stream = await own.client.responses.create({ model, input: "Hello", background: true, stream: true });
    let id = "";
    for await (const event of stream) {
      if (event.type === "response.created") id = event.response.id;
      if (event.type === "response.output_text.delta" && event.delta === " two") break;
    }
    expect(await own.client.responses.cancel(id)).toMatchObject({ id, status: "cancelled" });
    await own.settled();
    gate.open();
    expect(await own.listCharges()).toHaveLength(1);
    expect(await own.client.responses.cancel(id)).toMatchObject({ status: "cancelled" });
  });

  test("fails with its upstream or its process, at no charge", async () => {
    const own = await chat.createCaller();
    chat.upstream.script({ status: 500 });
    const begun = await own.client.responses.create({ model, input: "Hello", background: true });
    expect(await untilOver(own, begun.id)).toMatchObject({ status: "failed", error: { code: "server_error" } });
    const { database } = chat.gateway;
    await database
      .updateTable("responses")
      .set({ state: "in_progress", lease_until: new Date(Date.now() - 1000) })
      .where("id", "=", begun.id)
      .execute();
    expect(await own.client.responses.retrieve(begun.id)).toMatchObject({ status: "failed" });
    expect(await own.listCharges()).toEqual([]);
  });

  test("runs once for an Idempotency-Key, and a repeat gets it as it is now", async () => {
    const own = await chat.createCaller();
    const gate = createGate();
    chat.upstream.script({ beforeHead: gate, text: "Done once" });
    const asked = { model, input: "Take your time", background: true };
    const options = { headers: { "idempotency-key": "background-once" }, maxRetries: 0 };
    const begun = await own.client.responses.create(asked, options);
    const repeated = await own.client.responses.create(asked, options).withResponse();
    expect(repeated.data).toMatchObject({ id: begun.id, status: "in_progress" });
    expect(repeated.response.headers.get("idempotent-replayed")).toBe("true");
    const different = own.client.responses.create({ ...asked, input: "Hurry" }, options);
    await expect(different).rejects.toMatchObject({ status: 422, code: "idempotency_key_reused" });
    gate.open();
    await untilOver(own, begun.id);
    const last = await own.client.responses.create(asked, options);
    expect(last).toMatchObject({ id: begun.id, status: "completed", output_text: "Done once" });
    expect(await own.listCharges()).toHaveLength(1);
  });

  test("is streamed again to a repeat with the same Idempotency-Key", async () => {
    const own = await chat.createCaller();
    const asked = { model, input: "Hello there", background: true, stream: true as const };
    const options = { headers: { "idempotency-key": "background-stream" }, maxRetries: 0 };
    const events = await Array.fromAsync(await own.client.responses.create(asked, options));
    expect(events.at(-1)?.type).toBe("response.completed");
    expect(await Array.fromAsync(await own.client.responses.create(asked, options))).toEqual(events);
    expect(await own.listCharges()).toHaveLength(1);
  });

  test("that was refused leaves its Idempotency-Key free", async () => {
    const own = await chat.createCaller({ cash: "0" });
    const asked = { model, input: "Hello", background: true };
    const options = { headers: { "idempotency-key": "background-refused" }, maxRetries: 0 };
    for (let times = 0; times < 2; times += 1) {
      await expect(own.client.responses.create(asked, options)).rejects.toMatchObject({ status: 402 });
    }
  });

  test("leaves no claim behind when it is over", async () => {
    const own = await chat.createCaller();
    const begun = await own.client.responses.create({ model, input: "Hello", background: true });
    await untilOver(own, begun.id);
    const rows = await chat.gateway.database
      .selectFrom("idempotency_keys")
      .select("key")
      .where("account_id", "=", own.accountId)
      .execute();
    expect(rows).toEqual([]);
  });

  test("has to be stored, and needs money", async () => {
    const own = await chat.createCaller({ cash: "0" });
    const asked = { model, input: "Hello", background: true };
    await expect(own.client.responses.create(asked)).rejects.toMatchObject({ status: 402 });
    await expect(own.client.responses.create({ ...asked, store: false })).rejects.toMatchObject({
      param: "background",
    });
    const rows = await chat.gateway.database
      .selectFrom("responses")
      .select("id")
      .where("account_id", "=", own.accountId)
      .execute();
    expect(rows).toEqual([]);
  });
});

describe("clients that use this API by default", () => {
  const places: string[] = [];
  const execute = async (input: unknown): Promise<string> => {
    places.push((input as { city: string }).city);
    return "Rain";
  };

  test.each(["open", "google"])("an agent of @openai/agents runs with a tool: %s", async (model) => {
    const provider = new OpenAIProvider({ openAIClient: client, useResponses: true });
    const runner = new Runner({ modelProvider: provider, tracingDisabled: true });
    const { type: _type, ...described } = {
      ...weather,
      strict: true as const,
      parameters: { ...citySchema, additionalProperties: false as const },
    };
    const agent = new Agent({
      name: "Guide",
      instructions: "Help.",
      model,
      tools: [agentTool({ ...described, execute })],
    });
    const result = await runner.run(agent, "Please call weather for Paris");
    expect(result.finalOutput).toMatch(/^The tool says: .*Rain/);
    const streamed = await runner.run(agent, "Please call weather for Paris", { stream: true });
    await streamed.completed;
    expect(streamed.finalOutput).toMatch(/^The tool says: .*Rain/);
    expect(places.splice(0)).toHaveLength(2);
  });

  test.each(["open", "thinking-anthropic", "google"])(
    "the AI SDK's default model of the OpenAI package works: %s",
    async (id) => {
      const openai = createOpenAI({ apiKey: caller.key, baseURL: chat.gateway.baseUrl, fetch: chat.fetch });
      // The package is slightly newer than the SDK and has a finish reason that the SDK lacks.
      const model = openai(id) as LanguageModel;
      const tools = { weather: tool({ description: "The weather", inputSchema: jsonSchema(citySchema), execute }) };
      const asked = { model, tools, stopWhen: isStepCount(3), maxRetries: 0, prompt: "Please call weather for Paris" };
      const whole = await generateText(asked);
      expect(whole.text).toMatch(/^The tool says: .*Rain/);
      const thinks = { forceReasoning: true, reasoningEffort: "low", reasoningSummary: "auto" };
      const providerOptions = id.startsWith("thinking-") ? { openai: thinks } : {};
      const streamed = streamText({ ...asked, providerOptions });
      expect((await streamed.reasoningText) !== undefined).toBe(id.startsWith("thinking-"));
      expect(await streamed.text).toMatch(/^The tool says: .*Rain/);
      expect(await streamed.finishReason).toBe("stop");
      expect((await streamed.totalUsage).outputTokens).toBeGreaterThan(0);
      const { output } = await generateText({
        model,
        prompt: "Where?",
        output: Output.object({ schema: jsonSchema(citySchema) }),
      });
      expect(output).toEqual({ city: expect.any(String) });
      expect(places.splice(0)).toHaveLength(2);
    },
  );
});
