import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import {
  citySchema,
  offerTool,
  pixel,
  pixelUrl,
  type VendorModel,
  vendorModels,
  writeClientCatalog,
} from "../harness/chat/client-catalog.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeClientCatalog });
  caller = await chat.createCaller({ cash: "10000" });
});
afterAll(async () => {
  expect(chat.upstream.refusals()).toEqual([]);
  await chat[Symbol.asyncDispose]();
});

type Fields = Record<string, unknown>;
type Answer = { error?: { code: string; param: string | null; message: string } };

const hello = { role: "user", content: "Hello" };
const tools = [offerTool("weather"), offerTool("traffic")];
const [, { function: trafficTool }] = [tools[0], offerTool("traffic")];

async function ask(model: string, fields: Fields = {}): Promise<{ status: number; answer: Answer }> {
  const response = await caller.post({ model, messages: [hello], ...fields });
  return { status: response.status, answer: (await response.json()) as Answer };
}

/** The request that reaches the vendor. */
async function translate(model: string, fields: Fields = {}): Promise<Fields> {
  const callsBefore = chat.upstream.requests.length;
  const { status, answer } = await ask(model, fields);
  expect(status, JSON.stringify(answer)).toBe(200);
  expect(chat.upstream.requests.length).toBe(callsBefore + 1);
  return chat.upstream.requests.at(-1)?.json as Fields;
}

async function expectObstacle(model: string, fields: Fields, param: string): Promise<void> {
  const callsBefore = chat.upstream.requests.length;
  const { status, answer } = await ask(model, fields);
  expect([status, answer.error?.code, answer.error?.param]).toEqual([400, "unsupported_capability", param]);
  expect(chat.upstream.requests.length).toBe(callsBefore);
}

const callTool = (id: string, name: string) => ({
  id,
  type: "function",
  function: { name, arguments: '{"city":"Paris"}' },
});

const conversation = [
  { role: "system", content: "Be brief." },
  {
    role: "developer",
    content: [
      { type: "text", text: "Be " },
      { type: "text", text: "kind." },
    ],
  },
  hello,
  {
    role: "user",
    content: [
      { type: "text", text: "Look" },
      { type: "image_url", image_url: { url: pixelUrl } },
    ],
  },
  { role: "assistant", content: "I see.", refusal: null },
  { role: "user", content: "Weather and traffic?" },
  { role: "assistant", content: null, tool_calls: [callTool("call_a", "weather"), callTool("call_b", "traffic")] },
  { role: "tool", tool_call_id: "call_a", content: "sunny" },
  { role: "tool", tool_call_id: "call_b", content: [{ type: "text", text: "jammed" }] },
  { role: "user", content: "So?" },
];

const anthropicConversation = {
  system: [
    { type: "text", text: "Be brief." },
    { type: "text", text: "Be kind." },
  ],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Hello" },
        { type: "text", text: "Look" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "I see." }] },
    { role: "user", content: [{ type: "text", text: "Weather and traffic?" }] },
    {
      role: "assistant",
      content: [
        { type: "tool_use", id: "call_a", name: "weather", input: { city: "Paris" } },
        { type: "tool_use", id: "call_b", name: "traffic", input: { city: "Paris" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_a", content: "sunny" },
        { type: "tool_result", tool_use_id: "call_b", content: "jammed" },
        { type: "text", text: "So?" },
      ],
    },
  ],
};

const callGemini = (id: string, name: string) => ({ functionCall: { id, name, args: { city: "Paris" } } });
const answerGemini = (id: string, name: string, content: string) => ({
  functionResponse: { id, name, response: { name, content } },
});

const geminiConversation = {
  systemInstruction: { parts: [{ text: "Be brief." }, { text: "Be kind." }] },
  contents: [
    { role: "user", parts: [{ text: "Hello" }] },
    { role: "user", parts: [{ text: "Look" }, { inlineData: { mimeType: "image/png", data: pixel } }] },
    { role: "model", parts: [{ text: "I see." }] },
    { role: "user", parts: [{ text: "Weather and traffic?" }] },
    { role: "model", parts: [callGemini("call_a", "weather"), callGemini("call_b", "traffic")] },
    {
      role: "user",
      parts: [answerGemini("call_a", "weather", "sunny"), answerGemini("call_b", "traffic", "jammed")],
    },
    { role: "user", parts: [{ text: "So?" }] },
  ],
};

const describedAs = (name: string) => `Answers with the ${name} of a city`;
const names = ["weather", "traffic"];

test("a conversation reaches an OpenAI-compatible upstream unchanged, except for model and cap", async () => {
  const fields = { messages: conversation, tools, stop: "HALT", temperature: 0.5, user: "customer-1", seed: 7 };
  expect(await translate("open", { ...fields, max_tokens: 50 })).toEqual({
    ...fields,
    model: `${canary}-open`,
    max_completion_tokens: 50,
  });
});

test("a whole conversation reaches Anthropic in its own format", async () => {
  const fields = { messages: conversation, tools, stop: "HALT", temperature: 0.5, user: "customer-1", max_tokens: 50 };
  expect(await translate("anthropic", fields)).toEqual({
    ...anthropicConversation,
    model: `${canary}-claude`,
    max_tokens: 50,
    temperature: 0.5,
    stop_sequences: ["HALT"],
    metadata: { user_id: "customer-1" },
    tools: names.map((name) => ({ name, description: describedAs(name), input_schema: citySchema })),
    tool_choice: undefined,
  });
});

test("a whole conversation reaches Gemini in its own format", async () => {
  const sampling = { temperature: 0.5, top_p: 0.25, seed: 7, frequency_penalty: 0.5, presence_penalty: -0.5 };
  const fields = { messages: conversation, tools, stop: ["HALT", "END"], max_completion_tokens: 50, ...sampling };
  expect(await translate("google", fields)).toEqual({
    ...geminiConversation,
    generationConfig: {
      maxOutputTokens: 50,
      stopSequences: ["HALT", "END"],
      temperature: 0.5,
      topP: 0.25,
      seed: 7,
      frequencyPenalty: 0.5,
      presencePenalty: -0.5,
    },
    tools: [
      {
        functionDeclarations: names.map((name) => ({
          name,
          description: describedAs(name),
          parametersJsonSchema: citySchema,
        })),
      },
    ],
  });
  expect(chat.upstream.requests.at(-1)?.path).toBe(`/gemini/v1beta/models/${canary}-gemini:generateContent`);
});

test("a whole conversation reaches any other vendor through its package", async () => {
  const fields = { messages: conversation, tools, stop: "HALT", temperature: 0.5, max_tokens: 50 };
  const plain = conversation.map((message) =>
    message.role === "developer" ? { role: "system", content: "Be kind." } : message,
  );
  const { messages, ...body } = await translate("packaged", fields);
  expect(body).toEqual({
    model: `${canary}-packaged`,
    max_tokens: 50,
    temperature: 0.5,
    stop: ["HALT"],
    tools,
  });
  expect(messages).toEqual(
    plain.map(({ role, content, ...rest }) => ({
      role,
      content: role === "tool" && typeof content !== "string" ? "jammed" : content,
      ...("tool_calls" in rest ? { tool_calls: rest.tool_calls } : {}),
      ...("tool_call_id" in rest ? { tool_call_id: rest.tool_call_id } : {}),
    })),
  );
});

describe("tool_choice", () => {
  const chosen = { type: "function", function: { name: "traffic" } };
  const allowed = {
    type: "allowed_tools",
    allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "traffic" } }] },
  };

  test("reaches an OpenAI-compatible upstream unchanged", async () => {
    for (const choice of ["auto", "none", "required", chosen, allowed]) {
      const body = await translate("open", { tools, tool_choice: choice, parallel_tool_calls: false });
      expect(body).toMatchObject({ tools, tool_choice: choice, parallel_tool_calls: false });
    }
  });

  test.each([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "any" }],
    [chosen, { type: "tool", name: "traffic" }],
  ])("Anthropic: %j becomes %j", async (choice, translated) => {
    expect((await translate("anthropic", { tools, tool_choice: choice })).tool_choice).toEqual(translated);
    const serial = await translate("anthropic", { tools, tool_choice: choice, parallel_tool_calls: false });
    if (choice !== "none") expect(serial.tool_choice).toEqual({ ...translated, disable_parallel_tool_use: true });
  });

  test.each([
    ["auto", { mode: "AUTO" }],
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    [chosen, { mode: "ANY", allowedFunctionNames: ["traffic"] }],
  ])("Gemini: %j becomes %j", async (choice, translated) => {
    const { toolConfig } = await translate("google", { tools, tool_choice: choice });
    expect(toolConfig).toEqual({ functionCallingConfig: translated });
  });

  test("with allowed tools, vendors without that option are offered only those tools", async () => {
    const anthropic = await translate("anthropic", { tools, tool_choice: allowed });
    expect([anthropic.tools, anthropic.tool_choice]).toEqual([
      [{ name: "traffic", description: trafficTool.description, input_schema: citySchema }],
      { type: "any" },
    ]);
    const packaged = await translate("packaged", { tools, tool_choice: allowed });
    expect([packaged.tools, packaged.tool_choice]).toEqual([[offerTool("traffic")], "required"]);
  });
});

describe("an answer with a schema", () => {
  const format = { type: "json_schema", json_schema: { name: "place", schema: citySchema, strict: true } };

  test("is requested from each vendor in its own way", async () => {
    expect((await translate("open", { response_format: format })).response_format).toEqual(format);
    expect((await translate("packaged", { response_format: format })).response_format).toEqual(format);
    expect((await translate("thinking-anthropic", { response_format: format })).output_config).toEqual({
      format: { type: "json_schema", schema: citySchema },
    });
    expect((await translate("google", { response_format: format })).generationConfig).toMatchObject({
      responseMimeType: "application/json",
      responseJsonSchema: citySchema,
    });
  });

  test("of any JSON object is requested where the vendor supports it", async () => {
    const any = { response_format: { type: "json_object" } };
    expect((await translate("open", any)).response_format).toEqual({ type: "json_object" });
    expect((await translate("google", any)).generationConfig).toMatchObject({ responseMimeType: "application/json" });
    await expectObstacle("anthropic", any, "response_format");
  });
});

describe("reasoning", () => {
  test.each([
    ["low", 1024],
    ["medium", 2000],
    ["high", 3000],
  ])("an effort of %s is a budget of %d for Anthropic, within the cap", async (effort, budget) => {
    const body = await translate("thinking-anthropic", { reasoning_effort: effort });
    expect([body.thinking, body.max_tokens]).toEqual([{ type: "enabled", budget_tokens: budget }, 4000]);
  });

  test("an effort of none disables thinking, and without the field nothing is sent", async () => {
    expect((await translate("thinking-anthropic", { reasoning_effort: "none" })).thinking).toEqual({
      type: "disabled",
    });
    expect((await translate("thinking-anthropic")).thinking).toBeUndefined();
    expect((await translate("thinking-google")).generationConfig).toEqual({ maxOutputTokens: 4000 });
    expect((await translate("google", { reasoning_effort: "high" })).generationConfig).toMatchObject({
      thinkingConfig: { includeThoughts: true },
    });
    expect((await translate("open", { reasoning_effort: "high" })).reasoning_effort).toBe("high");
    expect((await translate("packaged", { reasoning_effort: "high" })).reasoning_effort).toBe("high");
  });
});

test("every vendor gets an output cap, even without one in the request, and never above the model's", async () => {
  expect((await translate("open")).max_completion_tokens).toBe(1000);
  expect((await translate("anthropic")).max_tokens).toBe(1000);
  expect((await translate("google")).generationConfig).toEqual({ maxOutputTokens: 1000 });
  expect((await translate("packaged")).max_tokens).toBe(1000);
});

test("instructions in the middle of a conversation are not lost", async () => {
  const messages = [hello, { role: "system", content: "Now be loud." }, { role: "user", content: "Go on" }];
  const anthropic = await translate("anthropic", { messages });
  expect(anthropic.system).toEqual([{ type: "text", text: "Now be loud." }]);
  expect((await translate("google", { messages })).systemInstruction).toEqual({ parts: [{ text: "Now be loud." }] });
});

test.each<[VendorModel, string, Fields]>([
  ["anthropic", "n", { n: 2 }],
  ["anthropic", "seed", { seed: 7 }],
  ["anthropic", "logprobs", { logprobs: true }],
  ["anthropic", "frequency_penalty", { frequency_penalty: 1 }],
  ["anthropic", "presence_penalty", { presence_penalty: 1 }],
  ["anthropic", "logit_bias", { logit_bias: { 50256: -100 } }],
  ["anthropic", "temperature", { temperature: 1.5 }],
  ["anthropic", "top_p", { temperature: 0.5, top_p: 0.5 }],
  ["anthropic", "verbosity", { verbosity: "low" }],
  ["google", "n", { n: 2 }],
  ["google", "logprobs", { logprobs: true }],
  ["google", "parallel_tool_calls", { tools, parallel_tool_calls: false }],
  ["google", "tools[0]", { tools: [{ type: "custom", custom: { name: "shell" } }] }],
  ["google", "messages[0].name", { messages: [{ ...hello, name: "Ada" }] }],
  ["packaged", "n", { n: 2 }],
  ["packaged", "logit_bias", { logit_bias: { 50256: -100 } }],
])("%s rejects %s before any upstream is called", async (model, param, fields) => {
  await expectObstacle(model, fields, param);
});

describe("image URLs", () => {
  const show = (url: string) => ({
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
  });

  test("an OpenAI-compatible upstream gets the URL", async () => {
    const url = "https://pictures.example.com/cat.png";
    expect((await translate("open", show(url))).messages).toEqual(show(url).messages);
  });

  test.each(vendorModels)("%s: a private address is rejected before any upstream is called", async (model) => {
    for (const url of [
      "https://127.0.0.1/cat.png",
      "https://[::1]/cat.png",
      "https://169.254.169.254/",
      "http://x.com/",
    ]) {
      const callsBefore = chat.upstream.requests.length;
      const { status, answer } = await ask(model, show(url));
      expect([status, answer.error?.code, answer.error?.param]).toEqual([
        400,
        "invalid_url",
        "messages[0].content[0].image_url.url",
      ]);
      expect(chat.upstream.requests.length).toBe(callsBefore);
    }
  });

  const unreachable = show("https://nowhere.invalid/cat.png");

  test.each(["anthropic", "google", "packaged"])(
    "%s: an image that cannot be fetched is the caller's error",
    async (model) => {
      const { status, answer } = await ask(model, unreachable);
      expect([status, answer.error?.param]).toEqual([400, "messages[0].content[0].image_url.url"]);
    },
  );

  test("an image that cannot be fetched gets the documented error code", async () => {
    expect((await ask("anthropic", unreachable)).answer.error?.code).toBe("invalid_url");
  });
});

describe("headers", () => {
  const own = ["accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"];
  const vendorHeaders: Record<VendorModel, readonly string[]> = {
    open: ["authorization"],
    anthropic: ["anthropic-version", "x-api-key"],
    google: ["x-goog-api-key"],
    packaged: ["authorization"],
  };

  test.each(vendorModels)("%s gets the catalog's key and no header from the caller", async (model) => {
    const sent = {
      cookie: "session=caller",
      "user-agent": "caller/1.0",
      "x-client-request-id": "caller-1",
      "idempotency-key": `caller-${model}`,
      "x-api-key": "caller-key",
      "x-goog-api-key": "caller-key",
      "anthropic-beta": "caller-beta",
      "openai-organization": "caller-org",
      "x-forwarded-for": "203.0.113.7",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "x-anything": "caller",
    };
    for (const stream of [false, true]) {
      const headers = { ...sent, "idempotency-key": `caller-${model}-${stream}` };
      const response = await caller.post({ model, messages: [hello], stream }, { headers });
      await response.text();
      expect(response.status).toBe(200);
      const call = chat.upstream.requests.at(-1);
      const names = Object.keys(call?.headers ?? {}).filter((name) => !own.includes(name));
      expect(names.sort()).toEqual(vendorHeaders[model]);
      expect(call?.apiKey).toBe("sk-fake-upstream");
      expect(JSON.stringify([call?.headers, call?.path])).not.toMatch(/caller|sk-slc|203\.0\.113/);
      expect(call?.body.toString()).not.toContain(caller.key);
    }
  });
});
