import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, isStepCount, jsonSchema, type LanguageModel, streamText, tool } from "ai";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { askVendor, buildBody, callVendor } from "./ask-vendor.ts";
import { canary, type FakeUpstreams, findCanary, startFakeUpstreams, type Vendor } from "./fake-upstreams.ts";

const weather = {
  type: "function" as const,
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string", enum: ["Bern", "Oslo"] }, days: { type: "integer" } },
    },
  },
};
const weatherTool = tool({
  description: "The weather",
  inputSchema: jsonSchema<{ city: string; days: number }>(weather.function.parameters),
  execute: ({ city }) => `Rain in ${city}`,
});

describe("in OpenAI's format", () => {
  const connect = (fake: FakeUpstreams) => new OpenAI({ apiKey: "sk-test", baseURL: fake.openAiUrl, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Hello there" }];

  test("the SDK gets a whole answer with everything that OpenAI sends", async () => {
    await using fake = await startFakeUpstreams();
    const answer = await connect(fake).chat.completions.create({
      model: "gpt-x",
      messages,
      logprobs: true,
      top_logprobs: 2,
      n: 2,
    });
    expect(answer).toMatchObject({ object: "chat.completion", model: `gpt-x-${canary}-001`, service_tier: "default" });
    expect(answer.system_fingerprint).toContain(canary);
    expect(answer.choices.map(({ message }) => message)).toEqual([
      { role: "assistant", content: "Echo: Hello there", refusal: null, annotations: [] },
      { role: "assistant", content: "Echo: Hello there (choice 2)", refusal: null, annotations: [] },
    ]);
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    const tokens = answer.choices[0]?.logprobs?.content ?? [];
    expect(tokens.map(({ token }) => token).join("")).toBe("Echo: Hello there");
    expect(tokens[0]?.top_logprobs).toHaveLength(2);
    // Two choices of three and five tokens.
    expect(answer.usage).toMatchObject({ completion_tokens: 8, prompt_tokens_details: { cached_tokens: 0 } });
    expect(answer.usage?.total_tokens).toBe((answer.usage?.prompt_tokens ?? 0) + 8);
  });

  test("the SDK gets a stream with the same answer, and usage only on request", async () => {
    await using fake = await startFakeUpstreams();
    const read = async (stream_options?: { include_usage: boolean }) => {
      const options = stream_options === undefined ? {} : { stream_options };
      const stream = await connect(fake).chat.completions.create({
        model: "m",
        messages,
        stream: true,
        n: 2,
        ...options,
      });
      return Array.fromAsync(stream);
    };
    const chunks = await read({ include_usage: true });
    const textOf = (index: number) =>
      chunks
        .flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
        .map(({ delta }) => delta.content)
        .join("");
    expect([textOf(0), textOf(1)]).toEqual(["Echo: Hello there", "Echo: Hello there (choice 2)"]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 8 } });
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "", refusal: null });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect((await read()).every((chunk) => !("usage" in chunk))).toBe(true);
  });

  test("tools are called in fragments, and their results are answered", async () => {
    await using fake = await startFakeUpstreams();
    const ask = {
      model: "m",
      tools: [weather],
      messages: [{ role: "user" as const, content: "Please call get_weather" }],
    };
    const stream = connect(fake).chat.completions.stream(ask);
    const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0] ?? {};
    expect(finish_reason).toBe("tool_calls");
    const [call] = message?.tool_calls ?? [];
    expect(call).toMatchObject({
      type: "function",
      function: { name: "get_weather", arguments: '{"city":"Bern","days":1}' },
    });
    const whole = await connect(fake).chat.completions.create(ask);
    expect(whole.choices[0]?.message).toMatchObject({
      content: null,
      tool_calls: [{ ...call, id: expect.any(String) }],
    });
    const said = await connect(fake).chat.completions.create({
      ...ask,
      messages: [
        ...ask.messages,
        { role: "assistant", tool_calls: message?.tool_calls ?? [] },
        { role: "tool", tool_call_id: call?.id ?? "", content: "Rain" },
      ],
    });
    expect(said.choices[0]?.message.content).toBe("The tool says: Rain");
  });

  test("token limits, stop sequences, schemas and forced tools are respected", async () => {
    await using fake = await startFakeUpstreams();
    const ask = async (extra: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>) => {
      const { choices } = await connect(fake).chat.completions.create({ model: "m", messages, ...extra });
      return [choices[0]?.finish_reason, choices[0]?.message.content];
    };
    expect(await ask({ max_completion_tokens: 2 })).toEqual(["length", "Echo: Hello"]);
    expect(await ask({ stop: ["zz", " there"] })).toEqual(["stop", "Echo: Hello"]);
    const schema = {
      type: "object",
      properties: { ok: { type: "boolean" }, tags: { type: "array", items: { type: "string" } } },
    };
    const response_format = { type: "json_schema" as const, json_schema: { name: "answer", schema } };
    expect(await ask({ response_format })).toEqual(["stop", '{"ok":true,"tags":["text"]}']);
    expect(await ask({ tools: [weather], tool_choice: "required" })).toEqual(["tool_calls", null]);
    expect(await ask({ tools: [weather], tool_choice: "none" })).toEqual(["stop", "Echo: Hello there"]);
  });
});

type SdkVendor = "anthropic" | "gemini";

function connectSdk(vendor: SdkVendor, fake: FakeUpstreams): LanguageModel {
  if (vendor === "anthropic")
    return createAnthropic({ apiKey: "key", baseURL: fake.anthropicUrl })("claude-sonnet-4-5");
  return createGoogle({ apiKey: "key", baseURL: fake.geminiUrl })("gemini-3-x");
}

const thinkingOptions = {
  anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } },
  google: { thinkingConfig: { includeThoughts: true } },
};

describe.for<SdkVendor>(["anthropic", "gemini"])("in the format of %s", (vendor) => {
  test("the SDK gets a whole answer with usage", async () => {
    await using fake = await startFakeUpstreams();
    const answer = await generateText({ model: connectSdk(vendor, fake), prompt: "Hello there", maxRetries: 0 });
    expect([answer.text, answer.finishReason]).toEqual(["Echo: Hello there", "stop"]);
    expect(answer.usage).toMatchObject({ outputTokens: 3, inputTokens: fake.requests[0]?.ask?.inputTokens });
    expect(fake.refusals()).toEqual([]);
  });

  test("the SDK gets a stream with thoughts and usage", async () => {
    await using fake = await startFakeUpstreams();
    const stream = streamText({
      model: connectSdk(vendor, fake),
      prompt: "Hello there",
      maxOutputTokens: 5000,
      providerOptions: thinkingOptions,
    });
    const parts = await Array.fromAsync(stream.fullStream);
    expect(parts.filter(({ type }) => type === "text-delta").length).toBe(3);
    expect(await stream.text).toBe("Echo: Hello there");
    expect(await stream.reasoningText).toBe("Somebody asks: Hello there");
    expect(await stream.usage).toMatchObject({ outputTokens: 7, outputTokenDetails: { reasoningTokens: 4 } });
    expect(fake.requests[0]?.ask?.isStreamed).toBe(true);
  });

  test("tools are called and their results accepted, streamed or not", async () => {
    await using fake = await startFakeUpstreams();
    const ask = {
      model: connectSdk(vendor, fake),
      prompt: "Please call get_weather",
      tools: { get_weather: weatherTool },
      stopWhen: isStepCount(2),
    };
    const answer = await generateText(ask);
    expect(answer.steps[0]?.toolCalls[0]).toMatchObject({ toolName: "get_weather", input: { city: "Bern", days: 1 } });
    expect(answer.steps[0]?.finishReason).toBe("tool-calls");
    expect(answer.text).toMatch(/^The tool says: .*Rain in Bern/);
    expect(await streamText(ask).text).toBe(answer.text);
    // The SDK had a signature to send back and needed no placeholder.
    expect(fake.requests.filter(({ body }) => body.includes("skip_thought_signature_validator"))).toEqual([]);
    expect(fake.refusals()).toEqual([]);
  });

  test("token limits, stop sequences and blocks are reported in the vendor's way", async () => {
    await using fake = await startFakeUpstreams();
    const ask = async (extra: object) => {
      const answer = await generateText({ model: connectSdk(vendor, fake), prompt: "Hello there", ...extra });
      return [answer.finishReason, answer.text];
    };
    expect(await ask({ maxOutputTokens: 2 })).toEqual(["length", "Echo: Hello"]);
    expect(await ask({ stopSequences: [" there"] })).toEqual(["stop", "Echo: Hello"]);
    fake.script({ isBlocked: true });
    expect((await ask({}))[1]).toBe("");
  });
});

test("scripted content and usage arrive in every vendor's format", async () => {
  await using fake = await startFakeUpstreams();
  fake.always({
    text: "Yes",
    usage: { inputTokens: 100, outputTokens: 30, cachedInputTokens: 40, reasoningTokens: 10 },
  });
  const openai = await askVendor(fake, "openai");
  expect(openai.json).toMatchObject({
    choices: [{ message: { content: "Yes" } }],
    usage: { prompt_tokens: 100, completion_tokens: 30, prompt_tokens_details: { cached_tokens: 40 } },
  });
  const anthropic = await askVendor(fake, "anthropic");
  expect(anthropic.json).toMatchObject({
    content: [{ type: "text", text: "Yes" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 30 },
  });
  const gemini = await askVendor(fake, "gemini");
  expect(gemini.json).toMatchObject({
    candidates: [{ content: { parts: [{ text: "Yes" }] }, finishReason: "STOP", safetyRatings: expect.any(Array) }],
    usageMetadata: {
      promptTokenCount: 100,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 10,
      cachedContentTokenCount: 40,
    },
  });
});

const image = { type: "image_url", image_url: { url: "ftp://x" } };
const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const toolUse = { type: "tool_use", id: "call_1", name: "f", input: {} };
const thought = { type: "thinking", thinking: "x", signature: "forged" };
const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "ä" } };
const user = { role: "user", content: "Hi" };
const response = { role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] };
const declaration = { name: "f", parameters: { $schema: "x" } };

function say(role: string, ...content: readonly unknown[]): object {
  return { role, content };
}

const wrongRequests: [Vendor, RegExp, object][] = [
  ["openai", /'messages': empty array/, { messages: [] }],
  ["openai", /Unrecognized .* top_k/, { top_k: 1 }],
  ["openai", /valid URL/, { messages: [say("user", image)] }],
  ["openai", /must be a response/, { messages: [user, { role: "tool", tool_call_id: "call_1", content: "x" }] }],
  ["openai", /must be followed/, { messages: [user, { role: "assistant", tool_calls: [call] }, user] }],
  ["openai", /must be followed/, { messages: [user, { role: "assistant", tool_calls: [call] }] }],
  ["openai", /at the same time/, { max_tokens: 1, max_completion_tokens: 1 }],
  ["openai", /only allowed when 'tools'/, { tool_choice: "auto" }],
  ["openai", /when 'stream' is enabled/, { stream_options: { include_usage: true } }],
  ["openai", /between 0 and 2/, { temperature: 2.1 }],
  ["anthropic", /max_tokens: Field required/, { max_tokens: undefined }],
  ["anthropic", /messages.1: roles must alternate/, { messages: [user, user] }],
  ["anthropic", /messages.0: roles must alternate/, { messages: [{ role: "assistant", content: "Hi" }] }],
  ["anthropic", /must be non-empty/, { messages: [say("user", { type: "text", text: "" })] }],
  ["anthropic", /'image_url' is not permitted/, { messages: [say("user", image)] }],
  ["anthropic", /Invalid base64/, { messages: [say("user", png)] }],
  ["anthropic", /without 'tool_result'/, { messages: [user, say("assistant", toolUse), user] }],
  [
    "anthropic",
    /unexpected 'tool_use_id'/,
    { messages: [say("user", { type: "tool_result", tool_use_id: "call_1" })] },
  ],
  ["anthropic", /input_schema/, { tools: [{ name: "f" }] }],
  ["anthropic", /greater than thinking/, { thinking: { type: "enabled", budget_tokens: 2000 } }],
  ["anthropic", /Invalid 'signature'/, { messages: [user, say("assistant", thought), user] }],
  ["gemini", /contents is not specified/, { contents: [] }],
  ["gemini", /valid role/, { contents: [{ role: "assistant", parts: [{ text: "Hi" }] }] }],
  ["gemini", /one initialized field/, { contents: [{ role: "user", parts: [{ text: "Hi", inlineData: {} }] }] }],
  ["gemini", /number of function response/, { contents: [response] }],
  [
    "gemini",
    /thought_signature/,
    { contents: [{ role: "model", parts: [{ functionCall: { name: "f" } }] }, response] },
  ],
  ["gemini", /Unrecognized .* max_tokens/, { max_tokens: 1 }],
  ["gemini", /\$schema/, { tools: [{ functionDeclarations: [declaration] }] }],
];

test.for(wrongRequests)("%s refuses requests against its rules: %s", async ([vendor, reason, change]) => {
  await using fake = await startFakeUpstreams();
  const answer = await callVendor(fake, vendor, { model: "gemini-3-x", body: { ...buildBody(vendor), ...change } });
  expect([answer.status, fake.refusals()]).toEqual([400, [expect.stringMatching(reason)]]);
  expect(findCanary(await answer.text())).not.toBeNull();
  // The same request without the mistake is accepted.
  expect((await askVendor(fake, vendor)).status).toBe(200);
});

test.for<[Vendor, number]>([
  ["openai", 401],
  ["anthropic", 401],
  ["gemini", 403],
])("%s requires its own key, method, path and format", async ([vendor, refusedStatus]) => {
  await using fake = await startFakeUpstreams({ keys: ["right"] });
  const statusOf = async (options: Parameters<typeof callVendor>[2]) =>
    (await callVendor(fake, vendor, options)).status;
  expect(await statusOf({ headers: { "x-api-key": "", "x-goog-api-key": "", authorization: "" } })).toBe(refusedStatus);
  expect(await statusOf({ apiKey: "wrong" })).toBe(refusedStatus);
  expect(await statusOf({ apiKey: "right" })).toBe(200);
  expect(await statusOf({ apiKey: "right", path: "/nowhere" })).toBe(404);
  expect(await statusOf({ apiKey: "right", method: "PUT" })).toBe(405);
  expect(await statusOf({ apiKey: "right", text: '{"model":' })).toBe(400);
  expect(await statusOf({ apiKey: "right", headers: { "content-type": "text/plain" } })).toBe(415);
  if (vendor === "anthropic")
    expect(await statusOf({ apiKey: "right", headers: { "anthropic-version": "" } })).toBe(400);
  expect(fake.requests.map(({ vendor: asked }) => asked)).toEqual(fake.requests.map(() => vendor));
});

describe.for<Vendor>(["openai", "anthropic", "gemini"])("the canary of %s", (vendor) => {
  test("is in the head and the envelope of every answer, but not in values that customers must send back", async () => {
    await using fake = await startFakeUpstreams();
    const tools = {
      openai: [weather],
      anthropic: [{ name: "get_weather", input_schema: { type: "object" } }],
      gemini: [{ functionDeclarations: [{ name: "get_weather" }] }],
    };
    for (const isStreamed of [false, true]) {
      const options = { prompt: "call get_weather", isStreamed, change: { tools: tools[vendor] } };
      const { headers, text } = await askVendor(fake, vendor, options);
      const named = ["server", "via", `x-${canary}-request-id`, "set-cookie"].map((name) => headers.get(name));
      const fields = text.match(/"(id|model|modelVersion|responseId|system_fingerprint)":"(?!call_)[^"]*"/g) ?? [];
      expect(fields.length).toBeGreaterThanOrEqual(2);
      expect([...named, ...fields].filter((part) => findCanary(part) === null)).toEqual([]);
      const sentBack = text.match(/"(id":"call_|thoughtSignature":")[^"]*"/g) ?? [];
      expect([sentBack.length > 0, findCanary(sentBack)]).toEqual([true, null]);
    }
  });

  test("is in the message of every error, before and within a stream", async () => {
    await using fake = await startFakeUpstreams();
    for (const status of [400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 529]) {
      fake.script({ status });
      const answer = await askVendor(fake, vendor);
      expect(answer.status).toBe(status);
      const { error } = answer.json as { error: { message: string; code?: string; details?: object } };
      expect(findCanary(error.message)).not.toBeNull();
      expect(vendor === "anthropic" || findCanary([error.code, error.details]) !== null).toBe(true);
    }
    fake.script({ status: 400, error: { message: "Too long" } });
    expect((await askVendor(fake, vendor)).json).toHaveProperty("error.message", `Too long (${canary})`);
    fake.script({ errorAfterPieces: 1 });
    const { text } = await askVendor(fake, vendor, { isStreamed: true });
    expect(findCanary(text.slice(text.lastIndexOf('"error"')))).not.toBeNull();
  });
});

test.for([
  ["plain", canary],
  ["in capitals", "x-CanaryVendor-id"],
  ["percent-encoded", [...canary].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("")],
  ["in base64", `id_${Buffer.from(`{"v":"${canary}"}`).toString("base64")}`],
  ["in base64url, in the middle", Buffer.from(`??>${canary}`).toString("base64url")],
  ["in base64, percent-encoded", encodeURIComponent(Buffer.from(`+${canary}-?`).toString("base64"))],
  ["in hex", Buffer.from(canary.toUpperCase()).toString("hex")],
  ["escaped as in JSON", "\\u0063anaryvendor"],
  ["in bytes", Buffer.from(`\u0000\u00ff${canary}`)],
  ["in headers", new Headers({ [`x-${canary}`]: "1" })],
  ["in a key of an object", { deep: [{ [canary]: 1 }] }],
  ["in an error's cause", new Error("x", { cause: new Error(canary) })],
] as const)("the canary is found %s", ([, where]) => {
  expect(findCanary(where)).not.toBeNull();
});

test("the canary is not found in other texts", () => {
  const circle: { self?: object; text: string } = { text: "canary vendor" };
  circle.self = circle;
  const harmless = [
    "",
    "a canary of a vendor",
    Buffer.alloc(5000, "YWJj"),
    new Headers({ a: "b" }),
    circle,
    null,
    7,
    undefined,
  ];
  expect(harmless.map(findCanary)).toEqual(harmless.map(() => null));
});

describe("the vendors' own SDKs", () => {
  const anthropicTool = { name: "get_weather", input_schema: { type: "object" as const, properties: {} } };
  const usage = { inputTokens: 90, cachedInputTokens: 50, cacheWriteTokens: 30, outputTokens: 12, reasoningTokens: 2 };

  test("Anthropic's builds the whole answer from the events, with thoughts, signatures, tools and caches", async () => {
    await using fake = await startFakeUpstreams();
    const client = new Anthropic({ apiKey: "sk", baseURL: fake.anthropicUrl.replace(/\/v1$/, ""), maxRetries: 0 });
    const request = {
      ...{ model: "claude-x", max_tokens: 4000, tools: [anthropicTool] },
      thinking: { type: "enabled" as const, budget_tokens: 2000 },
      messages: [{ role: "user" as const, content: "Please call get_weather" }],
    };
    fake.always({ usage });
    const whole = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();
    expect(whole.content.map(({ type }) => type)).toEqual(["thinking", "tool_use"]);
    expect(whole.usage).toMatchObject({ input_tokens: 10, cache_read_input_tokens: 50, output_tokens: 12 });
    const withoutIds = ({ content, stop_reason, usage: counted }: Anthropic.Message) => ({
      ...{ stop_reason, counted },
      content: JSON.stringify(content).replace(/"id":"[^"]*"/, ""),
    });
    expect(withoutIds(streamed)).toEqual(withoutIds(whole));
    // The thoughts come back signed, and are accepted.
    const [, call] = whole.content;
    const result = {
      type: "tool_result" as const,
      tool_use_id: call?.type === "tool_use" ? call.id : "",
      content: "Rain",
    };
    const next = await client.messages.create({
      ...request,
      messages: [
        ...request.messages,
        { role: "assistant", content: whole.content },
        { role: "user", content: [result] },
      ],
    });
    expect(next.content.at(-1)).toMatchObject({ type: "text", text: "The tool says: Rain" });
    fake.script({ errorAfterPieces: 1 });
    await expect(client.messages.stream(request).finalMessage()).rejects.toThrow(canary);
    fake.script({ status: 529 });
    await expect(client.messages.create(request)).rejects.toMatchObject({ status: 529, type: "overloaded_error" });
    expect(fake.refusals()).toEqual([]);
  });

  test("OpenAI's builds the whole response from the events, with reasoning and tools", async () => {
    await using fake = await startFakeUpstreams();
    const client = new OpenAI({ apiKey: "sk", baseURL: fake.openAiUrl, maxRetries: 0 });
    const parameters = { type: "object", properties: {} };
    const request = {
      ...{ model: "gpt-x", store: false, reasoning: { effort: "low" as const } },
      tools: [{ type: "function" as const, name: "get_weather", parameters, strict: false }],
      input: [{ role: "user" as const, content: "Please call get_weather" }],
    };
    fake.always({ usage });
    const whole = await client.responses.create(request);
    const streamed = await client.responses.stream(request).finalResponse();
    expect(whole.output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
    expect(whole.usage).toMatchObject({ input_tokens: 90, output_tokens: 12, total_tokens: 102 });
    const kinds = ({ output, status, usage: counted }: typeof whole) => [
      output.map(({ type }) => type),
      status,
      counted,
    ];
    expect(kinds(streamed)).toEqual(kinds(whole));
    const [, call] = whole.output;
    const next = await client.responses.create({
      ...request,
      input: [
        ...request.input,
        ...(whole.output as OpenAI.Responses.ResponseInputItem[]),
        { type: "function_call_output", call_id: call?.type === "function_call" ? call.call_id : "", output: "Rain" },
      ],
    });
    expect(next.output_text).toBe("The tool says: Rain");
    const text = await client.responses.stream({ model: "gpt-x", input: "Hello there" }).finalResponse();
    expect(text.output_text).toBe("Echo: Hello there");
    fake.script({ errorAfterPieces: 1 });
    await expect(client.responses.stream({ model: "gpt-x", input: "Hi" }).finalResponse()).rejects.toThrow(canary);
    expect(fake.refusals()).toEqual([]);
  });
});
