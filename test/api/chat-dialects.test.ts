// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatFields } from "../../src/features/chat/chat-request-schema.ts";
import { openAiChatFields } from "../../src/providers/chat-request.ts";
import { chatDialects, dialectNames } from "../../src/providers/openai-compatible/dialects/chat-dialects.ts";
import { type Fields, hello, schemaFormat, tool } from "../harness/chat/chat-asks.ts";
import { upstreamKeyName, writeCatalogOf } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { pixel, pixelUrl } from "../harness/chat/client-catalog.ts";
import { canary, type FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";

/** Every dialect against a fake of its vendor that refuses what the vendor refuses, and what it would ignore. */

const extras = ["audio", "files", "modalities", "prediction", "service_tier", "store", "web_search_options"];

function writeCatalog(upstream: FakeUpstreams): string {
  return writeCatalogOf(upstream, {
    providers: dialectNames.map((name) => ({
      ...{ id: name, kind: "openai-compatible", dialect: name },
      ...{ base_url: upstream.cloneUrl(name), api_keys: [`\${${upstreamKeyName}}`] },
    })),
    models: dialectNames.flatMap((name) => {
      const route = { provider: name, upstream_model: `${canary}-${name}` };
      const other = { provider: "open", upstream_model: `${canary}-open`, priority: 1 };
      return [
        { id: name, extra_parameters: extras, routes: [route] },
        { id: `${name}-or-open`, extra_parameters: extras, routes: [route, other] },
        { id: `${name}-named`, routes: [{ ...route, passthrough: ["logit_bias", "moderation"] }] },
      ];
    }),
  });
}

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeCatalog });
  await becomeNewCaller();
});
afterAll(() => chat[Symbol.asyncDispose]());

/** One account may not make so many requests in a minute. */
async function becomeNewCaller(): Promise<void> {
  caller = await chat.createCaller({ cash: "100000" });
}

const tools = [tool("add", { description: "Adds." })];
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const call = { id: "call_of_another_vendor", type: "function", function: { name: "add", arguments: "{}" } };
const ask = (content: unknown[]) => ({ messages: [{ role: "user", content }] });
const answered = [hello, { role: "assistant", content: "Hi." }, hello];

/** What is asked for, by the field that a refusal must name. */
const asks: readonly (readonly [field: string, request: Fields])[] = [
  ["temperature", { temperature: 0.5 }],
  ["top_p", { top_p: 0.5 }],
  ["stop", { stop: "x" }],
  ["stop", { stop: ["x", "y"] }],
  ["frequency_penalty", { frequency_penalty: 0.5 }],
  ["presence_penalty", { presence_penalty: 0.5 }],
  ["logit_bias", { logit_bias: { "1": 5 } }],
  ["logprobs", { logprobs: true }],
  ["top_logprobs", { logprobs: true, top_logprobs: 2 }],
  ["seed", { seed: 7 }],
  ["n", { n: 2 }],
  ...efforts.map((effort) => ["reasoning_effort", { reasoning_effort: effort }] as const),
  ["verbosity", { verbosity: "low" }],
  ["user", { user: "ann" }],
  ["safety_identifier", { safety_identifier: "ann" }],
  ["metadata", { metadata: { a: "b" } }],
  ["prompt_cache_key", { prompt_cache_key: "agent" }],
  ["prompt_cache_options", { prompt_cache_options: { mode: "implicit" } }],
  ["prompt_cache_retention", { prompt_cache_retention: "24h" }],
  ["moderation", { moderation: {} }],
  ["functions", { functions: [{ name: "add" }] }],
  ["function_call", { functions: [{ name: "add" }], function_call: { name: "add" } }],
  ["audio", { audio: { voice: "alloy", format: "mp3" }, modalities: ["text", "audio"] }],
  ["modalities", { modalities: ["text", "audio"] }],
  ["prediction", { prediction: { type: "content", content: "x" } }],
  ["service_tier", { service_tier: "flex" }],
  ["service_tier", { service_tier: "priority" }],
  ["store", { store: true }],
  ["web_search_options", { web_search_options: {} }],
  ["tools", { tools }],
  ["tools", { tools: [{ type: "custom", custom: { name: "write" } }] }],
  ...["none", "auto", "required", { type: "function", function: { name: "add" } }].map(
    (choice) => ["tool_choice", { tools, tool_choice: choice }] as const,
  ),
  ["tool_choice", { tools, tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools } } }],
  ["parallel_tool_calls", { tools, parallel_tool_calls: false }],
  ["response_format", { response_format: { type: "text" } }],
  ["response_format", { response_format: { type: "json_object" } }],
  ["response_format", { response_format: schemaFormat({ type: "object", properties: {} }) }],
  ["stream", { stream: true }],
  ["stream_options", { stream: true, stream_options: { include_usage: true } }],
  ["max_tokens", { max_tokens: 50 }],
  ["max_completion_tokens", { max_completion_tokens: 50 }],
  ["model", {}],
  ["messages", { messages: [{ role: "developer", content: "Be brief." }, hello] }],
  ["messages", { messages: [{ ...hello, name: "ann" }] }],
  ["messages", ask([{ type: "text", text: "Hi", prompt_cache_breakpoint: { mode: "explicit" } }])],
  ["messages", ask([{ type: "image_url", image_url: { url: pixelUrl } }])],
  ["messages", ask([{ type: "input_audio", input_audio: { data: pixel, format: "mp3" } }])],
  ["messages", ask([{ type: "file", file: { file_data: `data:application/pdf;base64,${pixel}`, filename: "a" } }])],
  ["messages", { messages: answered.map((said, at) => (at === 1 ? { ...said, refusal: null } : said)) }],
  ["messages", { messages: [hello, { role: "assistant", content: null, refusal: "No." }, hello] }],
  ["messages", { messages: [hello, { role: "assistant", content: [{ type: "refusal", refusal: "No." }] }, hello] }],
  ["messages", { messages: [hello, { role: "assistant", content: "Hi", audio: { id: "a" } }, hello] }],
  [
    "messages",
    {
      tools,
      messages: [
        hello,
        { role: "assistant", tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: "2", name: "add" },
      ],
    },
  ],
  ["messages", { messages: [hello, { role: "function", name: "add", content: "2" }, hello] }],
];

test("every field of OpenAI's chat API is asked for", () => {
  expect([...openAiChatFields].sort()).toEqual(Object.keys(chatFields).sort());
  expect(new Set(asks.map(([field]) => field))).toEqual(openAiChatFields);
});

type Outcome = { status: number; param: string | null; sent: Fields | null; refusal: string | null };

async function send(body: Fields): Promise<Outcome> {
  const before = chat.upstream.requests.length;
  const response = await caller.post({ messages: [hello], ...body });
  const text = await response.text();
  const [made, ...others] = chat.upstream.requests.slice(before);
  expect(others).toEqual([]);
  const { error = { param: null } } = text.startsWith("{") ? JSON.parse(text) : {};
  return {
    status: response.status,
    param: error.param,
    sent: (made?.json as Fields | undefined) ?? null,
    refusal: made?.refusal ?? null,
  };
}

/** Where a dialect says that the field goes; `null` if it is dropped, with a reason. */
function findVendorsName(name: (typeof dialectNames)[number], field: string, request: Fields): string | null {
  const treatment = chatDialects[name].fields[field] ?? "sent";
  if (treatment === "sent") return field;
  if ("dropped" in treatment) {
    expect(treatment.dropped).toMatch(/ /);
    return null;
  }
  const instead = treatment.instead?.[String(request[field])];
  return instead === undefined ? (treatment.as ?? field) : (Object.keys(instead)[0] ?? null);
}

/** Written by the gateway itself, or the default, which is not sent. */
const own = new Set(["stream_options", "max_tokens", "max_completion_tokens", "tool_choice", "messages", "model"]);

describe.each(dialectNames)("%s", (name) => {
  beforeAll(becomeNewCaller);

  test.each(asks.map(([field, request]) => [field, JSON.stringify(request).slice(0, 100), request] as const))(
    "%s is honoured, or refused by name before anything is held: %s",
    async (field, _text, request) => {
      const holdsBefore = (await caller.listHolds()).length;
      const { status, param, sent, refusal } = await send({ model: name, ...request });
      expect(refusal).toBeNull();
      if (status === 200) {
        const vendorsName = findVendorsName(name, field, request);
        if (vendorsName !== null && !own.has(field)) expect(sent).toHaveProperty(vendorsName);
        return;
      }
      expect([status, sent]).toEqual([400, null]);
      // A request may have several fields that only work together.
      expect(Object.keys({ messages: 1, ...request })).toContain(param?.split(/[.[]/, 1)[0]);
      expect((await caller.listHolds()).length).toBe(holdsBefore);
      const elsewhere = await send({ model: `${name}-or-open`, ...request });
      expect([elsewhere.status, elsewhere.sent?.model]).toEqual([200, `${canary}-open`]);
    },
  );

  test("usage with cached tokens is read from whole answers and streams", async () => {
    const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 60 };
    const cached = chatDialects[name].answers?.cachedTokens === undefined ? 0 : 60;
    for (const stream of [false, true]) {
      const by = await chat.createCaller({ cash: "10" });
      chat.upstream.script({ usage });
      const options = stream ? { stream_options: { include_usage: true } } : {};
      const response = await by.post({ model: name, messages: [hello], stream, ...options });
      const text = await response.text();
      const [, reported = text] = text.match(/"usage":(\{"prompt.*)\}\n\ndata: \[DONE\]/s) ?? [];
      const read = stream ? JSON.parse(reported) : JSON.parse(reported).usage;
      expect(read).toMatchObject({ prompt_tokens: 100, completion_tokens: 10 });
      expect(read.prompt_tokens_details?.cached_tokens ?? 0).toBe(cached);
      await by.settled();
      expect(await by.listCharges()).toHaveLength(1);
    }
  });

  test("its finish reasons become OpenAI's", async () => {
    for (const [said, told] of Object.entries(chatDialects[name].answers?.finishReasons ?? {})) {
      for (const stream of [false, true]) {
        chat.upstream.script({ finishReason: said });
        const response = await caller.post({ model: name, messages: [hello], stream });
        expect(await response.text(), said).toContain(`"finish_reason":"${told}"`);
      }
    }
  });

  test("a refusal in its own words blames the request", async () => {
    chat.upstream.script({ status: name === "mistral" ? 422 : 400, error: { message: "Bad value", param: "stop" } });
    const { status } = await send({ model: name });
    expect(status).toBe(400);
  });

  test("a route may name fields that the dialect refuses", async () => {
    const { sent, refusal } = await send({ model: `${name}-named`, moderation: { policy: {} } });
    expect(sent).toMatchObject({ moderation: { policy: {} } });
    expect(refusal).toMatch(/moderation/);
  });
});

test("Mistral gets tool calls of other vendors with ids of its own form, which still match", async () => {
  const result = { role: "tool", tool_call_id: call.id, content: "2" };
  const messages = [hello, { role: "assistant", tool_calls: [call] }, result];
  const { sent } = await send({ model: "mistral", tools, messages });
  const [, asked, told] = (sent?.messages ?? []) as { tool_calls?: Fields[]; tool_call_id?: string }[];
  expect(told?.tool_call_id).toMatch(/^[0-9a-f]{9}$/);
  expect(asked?.tool_calls?.[0]?.id).toBe(told?.tool_call_id);
});

test("fields that a dialect renames are named in the caller's words", async () => {
  chat.upstream.script({ status: 422, error: { message: "Wrong", param: "random_seed" } });
  expect(await send({ model: "mistral", seed: 7 })).toMatchObject({ status: 400, param: "seed" });
});

test("thinking is switched off in the words of DeepSeek and Z.ai", async () => {
  for (const model of ["deepseek", "zai"]) {
    const { sent } = await send({ model, reasoning_effort: "none" });
    expect(sent).toMatchObject({ thinking: { type: "disabled" } });
    expect(sent).not.toHaveProperty("reasoning_effort");
  }
});
