// @module-tag slow
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { ChatAnthropic } from "@langchain/anthropic";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { aiSdkMajors } from "../harness/chat/ai-sdk-majors.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { citySchema, clientModels, pixel, writeClientCatalog } from "../harness/chat/client-catalog.ts";
import { endlessSilence } from "../harness/upstreams/gate.ts";

let chat: ChatGateway;
let caller: ChatCaller;
let client: Anthropic;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeClientCatalog });
  caller = await chat.createCaller({ cash: "10000" });
  client = openClient(caller.key);
  // It logs a warning for every model outside its own list.
  vi.stubGlobal("AI_SDK_LOG_WARNINGS", false);
});
afterAll(async () => {
  vi.unstubAllGlobals();
  expect(chat.upstream.refusals()).toEqual([]);
  await chat[Symbol.asyncDispose]();
});

/** The vendor's own SDK with only a base URL and a key. */
function openClient(apiKey: string, more: object = {}): Anthropic {
  return new Anthropic({ apiKey, baseURL: chat.gateway.siteUrl, fetch: chat.fetch, ...more });
}

const hello = { role: "user" as const, content: "Hello" };
const tools: Anthropic.Tool[] = ["weather", "traffic"].map((name) => ({
  name,
  description: `Answers with the ${name} of a city`,
  input_schema: citySchema,
}));
const question = { role: "user" as const, content: "Please call weather and traffic for Paris" };

const unlike: ReadonlySet<string> = new Set(["id", "charge", "parsed_output"]);

/** The common part of two answers to one request: ids differ, and charge and parsed fields are not accumulated. */
function strip(message: Anthropic.Message): Fields {
  const isSaid = (name: string, value: unknown): boolean => !unlike.has(name) && value !== null;
  return JSON.parse(JSON.stringify(message, (name, value) => (isSaid(name, value) ? value : undefined)));
}

describe.each(clientModels)("Anthropic SDK, %s", (model) => {
  test("a text, plain and streamed: the accumulated message equals the plain one", async () => {
    const asked = { model, max_tokens: 100, system: "Be brief.", messages: [hello] };
    const whole = await client.messages.create(asked);
    expect(whole).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      type: "message",
      role: "assistant",
      model,
      stop_reason: "end_turn",
      stop_sequence: null,
      content: [{ type: "text", text: expect.stringContaining("Hello") }],
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
    });
    expect(whole._request_id).toMatch(/^req_/);
    const streamed = await client.messages.stream(asked).finalMessage();
    expect(strip(streamed)).toEqual(strip(whole));
  });

  test("a tool loop, plain and streamed", async () => {
    const messages: Anthropic.MessageParam[] = [question];
    const asked = { model, max_tokens: 200, tools, messages };
    const first = await client.messages.create(asked);
    const streamed = await client.messages.stream(asked).finalMessage();
    // One vendor's package declares tools differently in a stream, which changes the token count.
    expect({ ...strip(streamed), usage: null }).toEqual({ ...strip(first), usage: null });
    expect(first.stop_reason).toBe("tool_use");
    const uses = first.content.filter((block) => block.type === "tool_use");
    expect(uses.map(({ name, input }) => [name, input])).toEqual([
      ["weather", { city: expect.any(String) }],
      ["traffic", { city: expect.any(String) }],
    ]);
    messages.push({ role: "assistant", content: first.content as Anthropic.ContentBlockParam[] });
    messages.push({
      role: "user",
      content: uses.map(({ id, name }) => ({ type: "tool_result", tool_use_id: id, content: `${name} is fine` })),
    });
    const last = await client.messages.create(asked);
    expect(last.stop_reason).toBe("end_turn");
    expect(JSON.stringify(last.content)).toContain("traffic is fine");
  });

  test("an inline image and an inline document are accepted", async () => {
    const source = { type: "base64" as const, media_type: "image/png" as const, data: pixel };
    const answer = await client.messages.create({
      ...{ model, max_tokens: 100 },
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source },
            { type: "document", source: { type: "text", media_type: "text/plain", data: "Once upon a time" } },
            { type: "text", text: "Hello, what is this?" },
          ],
        },
      ],
    });
    expect(JSON.stringify(answer.content)).toContain("what is this");
  });
});

describe.each(["open", "anthropic", "google", "sandbox-chat"])("Vercel AI SDK and LangChain, %s", (id) => {
  const run = { prompt: question.content, maxRetries: 0 };

  test.each(aiSdkMajors)("AI SDK $major: a text and a tool loop, plain and streamed, with usage", async (sdk) => {
    const { generateText, streamText, tool, jsonSchema } = sdk.ai;
    const vendor = sdk.createAnthropic({ apiKey: caller.key, baseURL: chat.gateway.baseUrl, fetch: chat.fetch });
    const offer = (name: string) =>
      tool({
        description: `Answers with the ${name} of a city`,
        inputSchema: jsonSchema<{ city: string }>(citySchema),
        execute: async () => `${name} is fine`,
      });
    const options = {
      ...run,
      model: vendor(id),
      tools: { weather: offer("weather"), traffic: offer("traffic") },
      stopWhen: ({ steps }: { steps: readonly unknown[] }) => steps.length === 3,
    };
    const { text, steps, usage } = await generateText(options);
    expect(text).toContain("traffic is fine");
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    expect(usage.outputTokens).toBeGreaterThan(0);
    const stream = streamText(options);
    expect(await stream.text).toContain("traffic is fine");
    expect((await stream.usage).outputTokens).toBeGreaterThan(0);
  });

  test("LangChain: a text, a stream and a tool call", async () => {
    const model = new ChatAnthropic({
      ...{ apiKey: caller.key, anthropicApiUrl: chat.gateway.siteUrl, model: id, maxTokens: 100, maxRetries: 0 },
      clientOptions: { fetch: chat.fetch },
    });
    const whole = await model.invoke("Hello");
    expect(whole.text).toContain("Hello");
    expect(whole).toMatchObject({
      usage_metadata: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
    });
    let text = "";
    for await (const chunk of await model.stream("Hello")) text += chunk.text;
    expect(text).toBe(whole.text);
    const called = await model.bindTools([...tools]).invoke(question.content);
    expect(called.tool_calls?.map(({ name }) => name)).toEqual(["weather", "traffic"]);
  });
});

/** The raw events of a stream. */
async function readEvents(
  body: object,
  headers: Record<string, string> = {},
): Promise<{ name: string; data: Fields }[]> {
  const response = await post({ ...body, stream: true }, headers);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  return [...(await response.text()).matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, name = "", data = ""]) => ({
    name,
    data: JSON.parse(data) as Fields,
  }));
}

type Fields = Record<string, unknown>;

function post(body: unknown, headers: Record<string, string> = {}, path = "/messages"): Promise<Response> {
  return chat.fetch(`${chat.gateway.baseUrl}${path}`, {
    method: "POST",
    headers: { "x-api-key": caller.key, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const asked = { model: "open", max_tokens: 100, messages: [hello] };

/** The request that reached the vendor. */
async function translate(fields: Fields): Promise<Fields> {
  const response = await post({ ...asked, ...fields });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return chat.upstream.requests.at(-1)?.json as Fields;
}

test("events arrive in the vendor's order, and the last one carries usage and charge", async () => {
  chat.upstream.script({ thinking: "Let me think.", pieces: ["Well", ", hello."] });
  const events = await readEvents(asked);
  const names = events.map(({ name, data }) => (name === "content_block_delta" ? (data.delta as Fields).type : name));
  expect(names.filter((name, index) => name !== names[index - 1])).toEqual([
    ...["message_start", "ping"],
    ...["content_block_start", "thinking_delta", "signature_delta", "content_block_stop"],
    ...["content_block_start", "text_delta", "content_block_stop", "message_delta", "message_stop"],
  ]);
  expect(events.every(({ name, data }) => data.type === name)).toBe(true);
  const indexes = events.map(({ data }) => data.index).filter((index) => index !== undefined);
  expect(indexes).toEqual(indexes.toSorted());
  const charge = (await caller.listCharges()).at(-1)?.paid;
  expect(events.at(-2)?.data.usage).toMatchObject({ output_tokens: expect.any(Number), charge });
});

test("unsigned reasoning is marked, and is sent back to models that accept it", async () => {
  chat.upstream.script({ thinking: "Let me think.", text: "Done." }, { thinking: "Let me think.", text: "Done." });
  const fields = { model: "open", max_tokens: 2000, thinking: { type: "enabled", budget_tokens: 1024 } as const };
  const whole = await client.messages.create({ ...fields, messages: [hello] });
  const streamed = await client.messages.stream({ ...fields, messages: [hello] }).finalMessage();
  expect(strip(streamed)).toEqual(strip(whole));
  const [thought, text] = whole.content;
  expect(thought).toEqual({ type: "thinking", thinking: "Let me think.", signature: expect.stringMatching(/./) });
  expect(text).toMatchObject({ type: "text", text: "Done." });
  expect(chat.upstream.requests.at(-1)?.json).toMatchObject({ reasoning_effort: "low" });
  // This upstream has no field for it.
  const sent = await translate({ messages: [hello, { role: "assistant", content: whole.content }, hello] });
  expect(sent.messages).toEqual([hello, { role: "assistant", content: "Done." }, hello]);
});

describe("errors have Anthropic's format, with our code and field", () => {
  async function expectError(response: Response, status: number, error: Fields): Promise<void> {
    const body = (await response.json()) as Fields;
    expect([response.status, body]).toEqual([
      status,
      {
        type: "error",
        error: { message: expect.any(String), ...error },
        request_id: response.headers.get("request-id"),
      },
    ]);
    expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
  }
  const image = { type: "image", source: { type: "base64", media_type: "image/tiff", data: "AAAA" } };

  test.each<[name: string, body: unknown, code: string, param: string | null]>([
    ["invalid JSON", "{", "invalid_json", null],
    ["no max_tokens", { ...asked, max_tokens: undefined }, "missing_parameter", "max_tokens"],
    ["a temperature over 1", { ...asked, temperature: 1.5 }, "invalid_parameter", "temperature"],
    ["an unknown field", { ...asked, n: 2 }, "unknown_parameter", "n"],
    ["empty content", { ...asked, messages: [{ role: "user", content: [] }] }, "invalid_parameter", "messages"],
    [
      "a block without its text",
      { ...asked, messages: [{ role: "user", content: [{ type: "text" }] }] },
      ...(["missing_parameter", "messages[0].content[0].text"] as const),
    ],
    [
      "an unsupported image in a tool result",
      {
        ...asked,
        messages: [
          question,
          { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "weather", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [image] }] },
        ],
        tools,
      },
      ...(["invalid_url", "messages[2].content[0].content[0].source"] as const),
    ],
    ["a tool without a schema", { ...asked, tools: [{ name: "x" }] }, "missing_parameter", "tools[0].input_schema"],
    ["two tools with one name", { ...asked, tools: [tools[0], tools[0]] }, "invalid_parameter", "tools[1].name"],
    [
      "a choice of an unknown tool",
      { ...asked, tools, tool_choice: { type: "tool", name: "x" } },
      "invalid_parameter",
      "tool_choice.name",
    ],
    ["top_k", { ...asked, top_k: 5 }, "unsupported_capability", "top_k"],
    [
      "a server's tool",
      { ...asked, tools: [{ type: "code_execution_20260521", name: "code_execution" }] },
      "unsupported_capability",
      "tools[0]",
    ],
    [
      "a document by URL",
      {
        ...asked,
        messages: [
          { role: "user", content: [{ type: "document", source: { type: "url", url: "https://a.example/b.pdf" } }] },
        ],
      },
      ...(["unsupported_capability", "messages[0].content[0].source"] as const),
    ],
    [
      "a block of a server's tool, after a system prompt",
      {
        ...{ ...asked, system: "Be brief." },
        messages: [hello, { role: "assistant", content: [{ type: "server_tool_use", id: "a", name: "b", input: {} }] }],
      },
      ...(["unsupported_capability", "messages[1].content[0]"] as const),
    ],
    [
      "a document that the model does not take",
      {
        ...{ ...asked, system: "Be brief." },
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Read this." },
              { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } },
            ],
          },
        ],
      },
      ...(["unsupported_capability", "messages[0].content[1]"] as const),
    ],
    [
      "two tools with one name after a deferred one",
      { ...asked, tools: [{ ...tools[1], name: "later", defer_loading: true }, tools[0], tools[0]] },
      ...(["invalid_parameter", "tools[2].name"] as const),
    ],
    [
      "a result without its call",
      {
        ...{ ...asked, model: "google", system: "Be brief." },
        messages: [hello, { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] }],
      },
      ...(["unsupported_capability", "messages[1].content[0].tool_use_id"] as const),
    ],
  ])("400: %s", async (_name, body, code, param) => {
    const response = await post(body);
    const { error } = (await response.clone().json()) as { error: { message: string } };
    // A path in the message is the caller's too.
    for (const [path] of error.message.matchAll(/messages\[[^ `]*/g)) expect(path).toBe(param);
    await expectError(response, 400, { type: "invalid_request_error", code, param });
  });

  test("400 of an upstream, by the caller's names", async () => {
    const cases = [
      ["messages[1].content[0].text", "messages[0].content"],
      ["messages[0]", "system"],
      ["max_completion_tokens", "max_tokens"],
      ["stop", "stop_sequences"],
    ] as const;
    for (const [param, place] of cases) {
      chat.upstream.script({ status: 400, error: { param, message: "This is wrong." } });
      const response = await post({ ...asked, system: "Be brief." });
      const { error } = (await response.json()) as { error: Fields };
      const message = `The model rejected this value of \`${place}\`. Change it.`;
      expect([response.status, error]).toMatchObject([400, { code: "invalid_parameter", param: place, message }]);
    }
  });

  test("404 and 405 below /v1/messages, and of other paths for the vendor's clients", async () => {
    const missing = { type: "not_found_error", param: null };
    await expectError(await post({}, {}, "/messages/batches"), 404, { ...missing, code: "not_offered" });
    await expectError(await post({}, {}, "/messages/nothing"), 404, { ...missing, code: "not_found" });
    await expectError(await post({}, { "anthropic-version": "2023-06-01" }, "/skills"), 404, {
      ...{ ...missing, code: "not_found" },
    });
    const read = await chat.gateway.get("/messages", caller.key);
    await expectError(read, 405, { type: "invalid_request_error", code: "method_not_allowed", param: null });
    const batches = client.messages.batches.list();
    await expect(batches).rejects.toMatchObject({ status: 404, type: "not_found_error" });
    const other = (await (await post({}, {}, "/nothing")).json()) as Fields;
    expect(other).not.toHaveProperty("type");
  });

  test("a stored error is replayed in the same format", async () => {
    const headers = { "idempotency-key": "broken-message" };
    chat.upstream.script({ pieces: ["One", " two"], cut: { afterPieces: 1 } });
    const ask = async () => await (await post({ ...asked, stream: true }, headers)).text();
    const [first, again] = [await ask(), await ask()];
    expect(first).toContain('event: error\ndata: {"type":"error"');
    expect(again).toBe(first);
  });

  test("401, 402, 403, 404, 415 and 503", async () => {
    await expectError(await post(asked, { "x-api-key": "" }), 401, {
      ...{ type: "authentication_error", code: "missing_api_key", param: null },
    });
    await expectError(await post(asked, { "x-api-key": "sk-no" }), 401, {
      ...{ type: "authentication_error", code: "invalid_api_key", param: null },
    });
    const two = await post(asked, { authorization: `Bearer ${(await chat.createCaller()).key}` });
    await expectError(two, 401, { type: "authentication_error", code: "invalid_api_key", param: null });
    // Another provider's key beside ours is ignored.
    expect((await post(asked, { authorization: "Bearer sk-ant-elsewhere" })).status).toBe(200);
    const poor = await chat.createCaller({ cash: "0" });
    await expectError(await post(asked, { "x-api-key": poor.key }), 402, {
      ...{ type: "billing_error", code: "insufficient_balance", param: null },
    });
    const limited = await chat.createCaller({ endpoints: ["files"] });
    await expectError(await post(asked, { "x-api-key": limited.key }), 403, {
      ...{ type: "permission_error", code: "key_not_permitted", param: null },
    });
    await expectError(await post({ ...asked, model: "none" }), 404, {
      ...{ type: "not_found_error", code: "model_unavailable", param: "model" },
    });
    await expectError(await post(asked, { "content-type": "text/plain" }), 415, {
      ...{ type: "invalid_request_error", code: "unsupported_media_type", param: null },
    });
    chat.upstream.script({ status: 500 }, { status: 500 }, { status: 500 });
    await expectError(await post(asked), 503, { type: "overloaded_error", code: "upstream_unavailable", param: null });
  });

  test("the SDK turns them into its own classes, and retries the retryable ones", async () => {
    const fails = (run: Promise<unknown>) => run.catch((error: unknown) => error);
    expect(await fails(client.messages.create({ ...asked, model: "none" }))).toBeInstanceOf(Anthropic.NotFoundError);
    expect(await fails(openClient("sk-no").messages.create(asked))).toBeInstanceOf(Anthropic.AuthenticationError);
    const poor = await chat.createCaller({ cash: "0" });
    const unpaid = await fails(openClient(poor.key).messages.create(asked));
    expect(unpaid).toMatchObject({ status: 402, type: "billing_error", requestID: expect.stringMatching(/^req_/) });
  });

  test("a stream that breaks off ends with an error event, and the received part is charged", async () => {
    const before = (await caller.listCharges()).length;
    chat.upstream.script({ pieces: ["One", " two", " three"], cut: { afterPieces: 2 } });
    const stream = client.messages.stream(asked);
    const error = await stream.finalMessage().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect((error as InstanceType<typeof Anthropic.APIError>).error).toMatchObject({
      type: "error",
      error: { type: "overloaded_error", code: "upstream_unavailable" },
      request_id: expect.stringMatching(/^req_/),
    });
    await caller.settled();
    expect((await caller.listCharges()).length).toBe(before + 1);
  });
});

test("a caller who disconnects pays for the generated part", async () => {
  const before = (await caller.listCharges()).length;
  chat.upstream.script({ pieces: ["One", " two"], beforeEnd: endlessSilence });
  const stream = client.messages.stream(asked);
  for await (const event of stream) if (event.type === "content_block_delta") break;
  await caller.settled();
  const charges = await caller.listCharges();
  expect(charges.length).toBe(before + 1);
  expect(charges.at(-1)?.items).toMatchObject({ hung_up: 1 });
});

test("a second request with the same key returns the first response, plain and streamed", async () => {
  const before = (await caller.listCharges()).length;
  for (const stream of [false, true]) {
    const headers = { "idempotency-key": `message-${stream}` };
    const first = await (await post({ ...asked, stream }, headers)).text();
    const again = await post({ ...asked, stream }, headers);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.text()).toBe(first);
    expect(first).toContain(stream ? "event: message_stop" : '"stop_reason":"end_turn"');
  }
  expect((await caller.listCharges()).length).toBe(before + 2);
});

describe("a tool runner that starts a thread", () => {
  test.each([...clientModels])("continues without it, plain and streamed: %s", async (model) => {
    const called: string[] = [];
    const runnable = tools.map(({ name }) =>
      betaTool({
        ...{ name, description: `Answers with the ${name} of a city`, inputSchema: citySchema },
        run: ({ city }) => {
          called.push(`${name} of ${city}`);
          return `${name} is fine`;
        },
      }),
    );
    const params = { model, max_tokens: 200, messages: [question], tools: runnable };
    const whole = await client.beta.messages.toolRunner(params);
    const streamed = await client.beta.messages.toolRunner({ ...params, stream: true }).runUntilDone();
    for (const { stop_reason: reason, content } of [whole, streamed]) {
      expect([reason, JSON.stringify(content)]).toEqual(["end_turn", expect.stringContaining("traffic is fine")]);
    }
    expect(called.map((call) => call.split(" ")[0])).toEqual(["weather", "traffic", "weather", "traffic"]);
  });

  test("gets the vendor's code, and is not charged, if it is written in Python", async () => {
    const before = (await caller.listCharges()).length;
    // The request of `beta.messages.tool_runner` in anthropic-python 2.9.0.
    const headers = {
      "user-agent": "Anthropic/Python 2.9.0",
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "message-threads-2026-08-12",
      "x-stainless-lang": "python",
      "x-stainless-helper": "BetaToolRunner, message-thread",
    };
    for (const model of ["open", "anthropic"]) {
      const body = { model, max_tokens: 200, messages: [question], tools, thread: { type: "create" } };
      const response = await post(body, headers);
      expect([response.status, await response.json()]).toEqual([
        400,
        {
          type: "error",
          error: {
            ...{ type: "invalid_request_error", code: "unsupported_capability", param: "thread" },
            message: expect.stringContaining("`thread`"),
            details: { error_code: "thread_unsupported_request" },
          },
          request_id: response.headers.get("request-id"),
        },
      ]);
    }
    expect((await caller.listCharges()).length).toBe(before);
  });
});

test("GET /v1/models has Anthropic's format for its clients, and OpenAI's for all others", async () => {
  const models = await Array.fromAsync(client.models.list({ limit: 2 }));
  expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining([...clientModels]));
  expect(models[0]).toMatchObject({
    type: "model",
    display_name: expect.any(String),
    created_at: expect.stringMatching(/Z$/),
  });
  const page = await client.models.list({ limit: 2, before_id: models[3]?.id ?? "" });
  expect(page.data).toEqual(models.slice(1, 3));
  expect(await client.models.retrieve("open")).toMatchObject({ id: "open", type: "model", max_tokens: 1000 });
  await expect(client.models.retrieve("none")).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  const { object } = (await (await chat.gateway.get("/models", caller.key)).json()) as Fields;
  expect(object).toBe("list");
});

test("every kind of upstream answers the requests of Claude Code, turn after turn", async () => {
  // A shortened request of Claude Code 2.1.325 to a custom base URL.
  const headers = {
    "user-agent": "claude-cli/2.1.325 (external, sdk-cli)",
    "anthropic-version": "2023-06-01",
    "anthropic-beta":
      "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,effort-2025-11-24",
    "anthropic-dangerous-direct-browser-access": "true",
    "x-app": "cli",
    "x-claude-code-session-id": "2873fa43-52ce-47dc-b93a-288599426f30",
  };
  const mark = { cache_control: { type: "ephemeral" } };
  const reminder = { type: "text", text: "<system-reminder>\nBe careful.\n</system-reminder>" };
  const environment = { role: "system", content: [{ type: "text", text: "# Environment\nLinux", ...mark }] };
  const base = {
    max_tokens: 32_000,
    system: [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.325.0dc; cc_entrypoint=sdk-cli;" },
      { type: "text", text: "You are a Claude agent, built on Anthropic's Claude Agent SDK.", ...mark },
      { type: "text", text: "\nYou are an agent working with the user toward their goals.", ...mark },
    ],
    tools: [...tools, { ...tools[0], name: "DeferredToolPlaceholder", defer_loading: true }],
    metadata: { user_id: '{"device_id":"18629fcd","account_uuid":"","session_id":"2873fa43"}' },
    thinking: { type: "adaptive", display: "omitted" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    output_config: { effort: "high" },
  };
  expect((await chat.fetch(`${chat.gateway.siteUrl}/api/hello`, { method: "HEAD" })).status).toBeLessThan(500);
  const list = await chat.fetch(`${chat.gateway.baseUrl}/models?limit=1000`, {
    headers: { authorization: `Bearer ${caller.key}`, "anthropic-version": "2023-06-01" },
  });
  expect(await list.json()).toMatchObject({ has_more: false, data: expect.any(Array) });
  for (const model of ["open", "google", "packaged", "sandbox-chat", "anthropic"]) {
    // The Anthropic fake predates instructions in the middle of a conversation.
    const first = [{ role: "user", content: [reminder, { type: "text", text: question.content, ...mark }] }];
    const messages = model === "anthropic" ? first : [...first, environment];
    const send = (fields: object) => post({ model, ...base, ...fields, stream: true }, headers, "/messages?beta=true");
    const client = openClient(caller.key);
    const asked = { model, ...base, messages } as object as Anthropic.MessageCreateParamsNonStreaming;
    const turn = await client.messages.stream(asked, { headers }).finalMessage();
    expect([model, turn.stop_reason]).toEqual([model, "tool_use"]);
    const uses = turn.content.filter((block) => block.type === "tool_use");
    const results = uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "fine", is_error: false }));
    const answered = [
      ...messages,
      { role: "assistant", content: turn.content },
      { role: "user", content: results.map((result, index) => ({ ...result, ...(index === 1 ? mark : {}) })) },
    ];
    const last = await (await send({ messages: answered })).text();
    expect(last).toContain("event: message_stop");
    expect(last).toContain('"stop_reason":"end_turn"');
    const { stream: _, max_tokens: __, ...counted } = { ...base, model, messages: answered, stream: true };
    const count = await post(counted, headers, "/messages/count_tokens?beta=true");
    expect([count.status, await count.json()]).toEqual([200, { input_tokens: expect.any(Number) }]);
  }
  // Anthropic's own fields reach Anthropic only.
  const seen = chat.upstream.requests.filter(({ json }) => JSON.stringify(json).includes("Claude Agent SDK"));
  expect(seen.map(({ json }) => JSON.stringify(json).includes("x-anthropic-billing-header"))).toEqual([
    ...[false, false, false, false, false, false, true, true],
  ]);
  expect(seen.at(-1)?.headers["anthropic-beta"]).toBe(headers["anthropic-beta"]);
});

describe("a stop sequence that ends the answer is reported", () => {
  test.each(["sandbox-chat", "anthropic", "thinking-anthropic"])("by %s, plain and streamed", async (model) => {
    const plain = await client.messages.create({ model, max_tokens: 100, messages: [hello] });
    const [text] = plain.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const stop = text?.split(" ")[1] ?? "";
    const asked = { model, max_tokens: 100, messages: [hello], stop_sequences: ["never said", stop] };
    for (const message of [await client.messages.create(asked), await client.messages.stream(asked).finalMessage()]) {
      expect([message.stop_reason, message.stop_sequence]).toEqual(["stop_sequence", stop]);
    }
    const whole = await client.messages.create({ ...asked, stop_sequences: ["never said"] });
    expect([whole.stop_reason, whole.stop_sequence]).toEqual(["end_turn", null]);
  });

  test("but not through chat, which has no field for it", async () => {
    const asked = { model: "sandbox-chat", messages: [hello], stop: ["e"] };
    const answer = await caller.client.chat.completions.create(asked);
    expect(answer.choices).toMatchObject([{ finish_reason: "stop" }]);
    expect(JSON.stringify(answer)).not.toContain("stop_sequence");
  });
});

test.each<[name: string, body: object]>([
  ["text", {}],
  ["a system prompt", { system: "Be brief, and answer in the words of a lighthouse keeper." }],
  ["tools", { tools }],
  ["a long system prompt, part of it cached", { system: "Be brief and precise. ".repeat(400), tools }],
])("count_tokens equals what the sandbox charges for %s", async (_name, body) => {
  const asked = { model: "sandbox-chat", messages: [hello], ...body };
  const { input_tokens: counted } = await client.messages.countTokens(asked);
  const { usage } = await client.messages.create({ ...asked, max_tokens: 50 });
  expect(counted).toBe(usage.input_tokens + (usage.cache_read_input_tokens ?? 0));
});
