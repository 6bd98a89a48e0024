import type OpenAI from "openai";
import { APIError } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeCatalogOf } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { offerTool, pixelUrl } from "../harness/chat/client-catalog.ts";
import { canary, type FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";

type Fields = Record<string, unknown>;

const takenFields = [
  "top_k",
  "min_p",
  "reasoning",
  "reasoning_format",
  "include_reasoning",
  "provider",
  "models",
  "usage",
];

function writeCatalog(upstream: FakeUpstreams): string {
  const route = { provider: "open", upstream_model: `${canary}-open` };
  return writeCatalogOf(upstream, {
    providers: [{ id: "sandbox", kind: "sandbox" }],
    models: [
      { id: "open", routes: [route] },
      { id: "plain", capabilities: ["chat", "streaming", "tools", "vision"], routes: [route] },
      { id: "router", routes: [{ ...route, passthrough: [...takenFields, "prefix"] }] },
      { id: "anthropic", routes: [{ provider: "anthropic", upstream_model: `${canary}-claude-sonnet-4-5` }] },
      { id: "google", routes: [{ provider: "google", upstream_model: `${canary}-gemini` }] },
      { id: "sandbox-chat", routes: [{ provider: "sandbox", upstream_model: "chat" }] },
    ],
  });
}

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeCatalog, extraFields: [...takenFields, "prefix"] });
  caller = await chat.createCaller({ cash: "1000" });
});
afterAll(async () => {
  expect(chat.upstream.refusals()).toEqual([]);
  await chat[Symbol.asyncDispose]();
});

const hello = { role: "user", content: "Hello" };

/** The SDK passes on fields that it does not know. */
async function send(fields: Fields): Promise<Fields> {
  const body = {
    model: "open",
    messages: [hello],
    ...fields,
  } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
  await caller.client.chat.completions.create(body);
  return chat.upstream.requests.at(-1)?.json as Fields;
}

async function refuse(fields: Fields): Promise<APIError> {
  const before = chat.upstream.requests.length;
  const error = await send(fields).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(chat.upstream.requests.length).toBe(before);
  if (error instanceof APIError) return error;
  throw new Error(`expected an error of the API, not ${String(error)}`);
}

describe("a field of another vendor that a route names", () => {
  test.each<[field: string, value: unknown]>([
    ["top_k", 5],
    ["min_p", 0.1],
    ["reasoning", { effort: "high", summary: "auto" }],
    ["reasoning_format", "hidden"],
    ["include_reasoning", false],
    ["provider", { order: ["one"], sort: null }],
    ["models", ["router", "other"]],
    ["usage", { include: true }],
  ])("%s reaches the upstream unchanged", async (field, value) => {
    expect(await send({ model: "router", [field]: value })).toMatchObject({ [field]: value });
  });
});

describe("a field of another vendor that an adapter supports", () => {
  test("top_k reaches Anthropic and Google under their names", async () => {
    expect(await send({ model: "anthropic", top_k: 5 })).toMatchObject({ top_k: 5 });
    expect(await send({ model: "google", top_k: 5 })).toMatchObject({ generationConfig: { topK: 5 } });
  });

  test("top_k and min_p do not change the sandbox's only answer, as temperature", async () => {
    const ask = (more: object) =>
      caller.client.chat.completions.create({
        ...{ model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }], ...more },
      });
    const [plain, sampled] = [await ask({}), await ask({ top_k: 5, min_p: 0.1 })];
    expect(sampled.choices).toEqual(plain.choices);
  });

  test("Anthropic continues an assistant's prefix", async () => {
    const messages = [hello, { role: "assistant", content: "Once upon", prefix: true }];
    const { messages: sent } = await send({ model: "anthropic", messages });
    expect(sent).toMatchObject([{ role: "user" }, { role: "assistant", content: [{ text: "Once upon" }] }]);
    expect(JSON.stringify(sent)).not.toContain("prefix");
  });

  test("a route that names `prefix` gets it as it is; `false` goes to every route", async () => {
    const last = { role: "assistant", content: "Once upon" };
    const { messages: sent } = await send({ model: "router", messages: [hello, { ...last, prefix: true }] });
    expect(sent).toEqual([hello, { ...last, prefix: true }]);
    const { messages: plain } = await send({ messages: [hello, { ...last, prefix: false }] });
    expect(plain).toEqual([hello, last]);
  });
});

describe("a field of another vendor is translated", () => {
  test.each<[reasoning: Fields, effort: string | undefined]>([
    [{ effort: "low" }, "low"],
    [{ max_tokens: 2000 }, "low"],
    [{ max_tokens: 10_000 }, "medium"],
    [{ max_tokens: 50_000 }, "high"],
    [{ enabled: true }, "medium"],
    [{ enabled: false }, "none"],
    [{ effort: null, exclude: false }, undefined],
    [{}, undefined],
  ])("reasoning %j becomes reasoning_effort %s", async (reasoning, effort) => {
    const sent = await send({ reasoning });
    expect([sent.reasoning_effort, sent.reasoning]).toEqual([effort, undefined]);
  });

  test.each<[name: string, fields: Fields]>([
    ["disabled sampling", { top_k: 0, min_p: 0 }],
    ["the usual form of reasoning", { reasoning_format: "parsed", include_reasoning: true }],
    ["no reasoning of a model without it", { model: "plain", reasoning: { enabled: false } }],
    ["usual preferences", { provider: { allow_fallbacks: true, require_parameters: true, data_collection: "allow" } }],
    ["the model itself as its only fallback", { models: ["open"] }],
    ["usage in a whole answer", { usage: { include: true } }],
    ["no usage", { usage: { include: false } }],
    ["Groq's default tier", { service_tier: "on_demand" }],
    ["null", Object.fromEntries(takenFields.map((field) => [field, null]))],
  ])("%s asks for the default and is not sent", async (_name, fields) => {
    const { model: _, ...asked } = fields;
    const sent = await send(fields);
    expect(Object.keys(sent).filter((field) => field in asked)).toEqual([]);
  });
});

/** The body that LiteLLM sends for `openrouter/…`. */
test.each([
  [{ include: true }, true],
  [{ include: false }, false],
])("usage %j: the stream has usage is %s", async (usage, isIncluded) => {
  const body = { model: "open", messages: [hello], usage, stream: true };
  const response = await caller.post(body);
  expect(response.status).toBe(200);
  const chunks = (await response.text()).matchAll(/^data: (\{.*)$/gm);
  const counted = [...chunks].filter(([, chunk = ""]) => (JSON.parse(chunk) as { usage?: unknown }).usage != null);
  expect(counted.length > 0).toBe(isIncluded);
});

describe("a field of another vendor that nothing supports is refused by name", () => {
  test.each<[fields: Fields, param: string, message: string]>([
    [{ top_k: 5 }, "top_k", "This model does not support `top_k`. Remove it."],
    [{ min_p: 0.1 }, "min_p", "This model does not support `min_p`. Remove it."],
    [{ model: "anthropic", min_p: 0.1 }, "min_p", "This model does not support `min_p`. Remove it."],
    [{ model: "anthropic", top_k: 5, reasoning_effort: "low" }, "top_k", "does not take top_k with reasoning_effort"],
    [{ model: "plain", reasoning: { effort: "low" } }, "reasoning", "plain does not have the capability reasoning."],
    [{ reasoning: { exclude: true } }, "reasoning", "`reasoning.exclude` is not supported."],
    [{ reasoning: { summary: "auto" } }, "reasoning", "`reasoning.summary` is not supported."],
    [{ reasoning: { effort: "low", max_tokens: 9 } }, "reasoning", "not both"],
    [
      { reasoning: { effort: "low" }, reasoning_effort: "high" },
      "reasoning",
      "`reasoning` and `reasoning_effort` differ.",
    ],
    [{ reasoning_format: "raw" }, "reasoning_format", "Reasoning is always in `reasoning_content`."],
    [{ include_reasoning: false }, "include_reasoning", "`reasoning_content` cannot be left out."],
    [{ provider: { order: ["x"] } }, "provider", "This service chooses the upstream itself. Remove `provider`."],
    [{ models: ["open", "google"] }, "models", "Fallback models are not supported."],
    [
      { messages: [hello, { role: "assistant", content: "So", prefix: true }] },
      "messages[1].prefix",
      "This model cannot continue an assistant message. Remove `prefix`.",
    ],
  ])("%j", async (fields, param, message) => {
    const error = await refuse(fields);
    expect(error).toMatchObject({ status: 400, code: "unsupported_capability", param });
    expect(error.message).toContain(message);
  });

  test.each<[fields: Fields, param: string]>([
    [{ top_k: "5" }, "top_k"],
    [{ min_p: 2 }, "min_p"],
    [{ reasoning: { effort: "huge" } }, "reasoning.effort"],
    [{ usage: { include: "yes" } }, "usage.include"],
    [{ model: "router", messages: [{ role: "assistant", content: "So", prefix: true }, hello] }, "messages[0].prefix"],
  ])("an invalid value: %j", async (fields, param) => {
    expect(await refuse(fields)).toMatchObject({ status: 400, code: "invalid_parameter", param });
  });
});

describe("what other vendors' clients leave out or add", () => {
  test("Mistral's tools and calls without `type`, and its word for a required call", async () => {
    const weather = offerTool("weather");
    const { type: _, ...untyped } = weather;
    const call = { id: "call_1", function: { name: "weather", arguments: "{}" } };
    const messages = [
      hello,
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", name: "weather", content: "Fine" },
    ];
    const sent = await send({ tools: [untyped], tool_choice: "any", messages });
    expect(sent).toMatchObject({ tools: [weather], tool_choice: "required" });
    expect(sent.messages).toMatchObject([hello, { tool_calls: [{ ...call, type: "function" }] }, { role: "tool" }]);
  });

  test("Hugging Face's nulls in messages, parts, tools and the tool choice", async () => {
    const weather = offerTool("weather");
    const image = { type: "image_url", image_url: { url: pixelUrl } };
    const messages = [
      { role: "system", content: "Be brief.", name: null, tool_calls: null, tool_call_id: null },
      {
        role: "user",
        name: null,
        tool_calls: null,
        content: [
          { type: "text", text: "Hello", image_url: null },
          { ...image, text: null },
        ],
      },
    ];
    const sent = await send({
      messages,
      tools: [{ ...weather, function: { ...weather.function, strict: null, title: null } }],
      tool_choice: { function: { name: "weather", description: null } },
      ...{ temperature: null, stop: null, response_format: null, stream: null },
    });
    expect(sent).toMatchObject({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "Hello" }, image] },
      ],
      tools: [weather],
      tool_choice: { type: "function", function: { name: "weather" } },
    });
    expect(JSON.stringify(sent)).not.toContain("null");
  });

  test("a body that stays invalid is refused for its own fault", async () => {
    const { type: _, ...untyped } = offerTool("weather");
    const error = await refuse({ tools: [{ ...untyped, function: { ...untyped.function, nmae: "x" } }] });
    expect(error).toMatchObject({ status: 400, code: "unknown_parameter", param: "tools[0].function.nmae" });
  });
});
