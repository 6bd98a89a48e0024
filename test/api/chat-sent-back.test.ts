import { readFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { makeParseableResponseFormat } from "openai/lib/parser";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeCatalogOf } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { citySchema, offerTool, vendorModels, writeClientCatalog } from "../harness/chat/client-catalog.ts";
import { findFreePort, startGatewayProcess } from "../harness/gateway-process.ts";
import { createPreparedDirectory } from "../harness/prepared-directory.ts";
import { canary, type FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";
import { thoughtSignature } from "../harness/upstreams/parse-anthropic-ask.ts";

/** The message as clients send it back: with the SDK's own fields, and with every empty field as `null`. */

type Message = OpenAI.ChatCompletionMessageParam;

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  // The package's vendor uses this name for reasoning.
  chat = await openChatGateway({ catalog: writeClientCatalog, extraFields: ["reasoning_content"] });
  caller = await chat.createCaller({ cash: "1000" });
});
afterAll(() => chat[Symbol.asyncDispose]());

const hello: Message = { role: "user", content: "Hello" };

/** The message as the Python SDK serializes it with `model_dump()`. */
const dumped = {
  role: "assistant",
  content: "Hi",
  refusal: null,
  annotations: [],
  audio: null,
  function_call: null,
  tool_calls: null,
};

/** Fields that the model did not create never reach an upstream: many upstreams reject a request for them. */
function expectUnsent(fields: readonly string[]): void {
  const sent = chat.upstream.requests.at(-1)?.body.toString() ?? "";
  expect(sent).not.toBe("");
  for (const field of fields) expect(sent).not.toContain(`"${field}"`);
}

test.each(vendorModels)("%s: an answer with null for its empty fields can be sent back", async (model) => {
  const response = await caller.post({ model, messages: [hello, dumped, { role: "user", content: "Again" }] });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Again")]);
  expectUnsent(["annotations", "function_call", "tool_calls"]);
});

test("an answer that the SDK has parsed can be sent back unchanged", async () => {
  const format = { type: "json_schema" as const, json_schema: { name: "place", schema: citySchema } };
  const response_format = makeParseableResponseFormat(format, (text) => JSON.parse(text) as unknown);
  for (const completion of [
    await caller.client.chat.completions.parse({ model: "open", messages: [hello], response_format }),
    await caller.client.chat.completions.stream({ model: "open", messages: [hello] }).finalChatCompletion(),
  ]) {
    const message = completion.choices[0]?.message ?? hello;
    expect(message).toHaveProperty("parsed");
    const next = await caller.client.chat.completions.create({ model: "open", messages: [hello, message, hello] });
    expect(next.choices[0]?.message.content).toContain("Hello");
    expectUnsent(["parsed"]);
  }
});

test("a tool call that the SDK has parsed can be sent back unchanged", async () => {
  const { function: definition, type } = offerTool("weather");
  const tools = [{ type, function: { ...definition, strict: true } }];
  const messages: Message[] = [{ role: "user", content: "Please call weather" }];
  const completion = await caller.client.chat.completions.parse({ model: "open", messages, tools });
  for (const { message } of completion.choices) {
    const { parsed: _, ...rest } = message;
    messages.push(rest);
    for (const { id } of message.tool_calls ?? []) messages.push({ role: "tool", tool_call_id: id, content: "fine" });
  }
  const next = await caller.client.chat.completions.create({ model: "open", messages, tools });
  expect(next.choices[0]?.message.content).toContain("fine");
  expectUnsent(["parsed_arguments"]);
});

/** The message as LiteLLM serializes it with `model_dump()` and sends it back, with the fields of every vendor it knows. */
const dumpedByLiteLlm = {
  content: null,
  role: "assistant",
  tool_calls: [
    {
      index: 0,
      caller: { type: "direct" },
      function: {
        arguments: '{"city":"Paris"}',
        name: "weather",
        provider_specific_fields: { thought_signature: "c2ln" },
      },
      id: "call_1",
      type: "function",
      provider_specific_fields: { thought_signature: "c2ln" },
    },
  ],
  function_call: null,
  reasoning_content: "Hm",
  thinking_blocks: [{ type: "thinking", thinking: "Hm", signature: "c2ln" }],
  provider_specific_fields: { refusal: null },
};

test.each([...vendorModels, "sandbox-chat"])("%s: an answer that LiteLLM has read can be sent back", async (model) => {
  const result = { role: "tool", tool_call_id: "call_1", name: "weather", content: "fine" };
  const messages = [{ role: "user", content: "Please call weather" }, dumpedByLiteLlm, result];
  const response = await caller.post({ model, messages, tools: [offerTool("weather")] });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("fine")]);
  if (model !== "sandbox-chat") expectUnsent(["provider_specific_fields", "thinking_blocks", "caller"]);
});

/** Fields that clients keep from other gateways, tools and prompts, in the places where they keep them. */
const mark = { type: "ephemeral", ttl: "1h" };
const call = { id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } };
const echo = [
  { role: "system", content: [{ type: "text", text: "Be short.", cache_control: mark }] },
  { role: "user", content: [{ type: "text", text: "Weather?", cache_control: mark }], cache_control: mark },
  {
    role: "assistant",
    content: null,
    tool_calls: [call],
    reasoning: "Hm",
    reasoning_content: "Hm",
    reasoning_details: [
      { type: "reasoning.text", text: "Hm", signature: thoughtSignature, format: "anthropic-claude-v1" },
    ],
    cache_control: mark,
  },
  { role: "tool", name: "weather", tool_call_id: "call_1", content: "fine", cache_control: mark },
];
const echoedFields = ["reasoning", "reasoning_content", "reasoning_details", "cache_control"];
const askWithEcho = (model: string) => ({
  model,
  messages: echo,
  tools: [{ ...offerTool("weather"), cache_control: mark }],
});

test.each(["open", "google", "packaged", "sandbox-chat"])("%s: unknown fields are left out", async (model) => {
  const response = await caller.post(askWithEcho(model));
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("fine")]);
  // The package takes reasoning as text and renames it for its vendor.
  if (model !== "sandbox-chat")
    expectUnsent(echoedFields.filter((field) => !(model === "packaged" && field === "reasoning_content")));
});

test("an upstream whose route lists these fields gets them unchanged, with the tool's name", async () => {
  await using own = await openChatGateway({ catalog: writeEchoCatalog, extraFields: echoedFields });
  const response = await (await own.createCaller({ cash: "1000" })).post(askWithEcho("knowing"));
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("fine")]);
  const sent = own.upstream.requests.at(-1)?.json as ReturnType<typeof askWithEcho>;
  expect([sent.messages, sent.tools]).toEqual([echo, askWithEcho("").tools]);
});

function writeEchoCatalog(upstream: FakeUpstreams): string {
  const route = { provider: "open", upstream_model: `${canary}-open`, passthrough: echoedFields };
  return writeCatalogOf(upstream, { models: [{ id: "knowing", routes: [route] }] });
}

test("Anthropic gets the cache markers and the reasoning that it signed", async () => {
  const response = await caller.post(askWithEcho("anthropic"));
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("fine")]);
  const cache_control = { type: "ephemeral" };
  expect(chat.upstream.requests.at(-1)?.json).toMatchObject({
    system: [{ type: "text", text: "Be short.", cache_control }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Weather?", cache_control }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm", signature: thoughtSignature },
          { type: "tool_use", id: "call_1", name: "weather", input: {}, cache_control },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1" }] },
    ],
  });
});

test.each([
  ["unsigned", { type: "reasoning.text", text: "Hm" }],
  ["signed by another vendor", { type: "reasoning.encrypted", data: "c2ln", format: "openai-responses-v1" }],
])("Anthropic does not get reasoning that is %s", async (_name, detail) => {
  const messages = [hello, { role: "assistant", content: "Hi", reasoning_details: [detail] }, hello];
  const response = await caller.post({ model: "anthropic", messages });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Hello")]);
  expectUnsent(["thinking", "reasoning_details"]);
});

test("the sandbox accepts an answer with null for its empty fields", async () => {
  using data = createPreparedDirectory();
  const port = await findFreePort();
  await using gateway = await startGatewayProcess({ environment: { SLUICE_DATA_DIR: data.path, SLUICE_PORT: port } });
  const apiKey = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
  const client = new OpenAI({ apiKey, baseURL: `http://localhost:${port}/v1`, maxRetries: 0 });
  const messages = [hello, dumped as unknown as Message, hello];
  const answer = await client.chat.completions.create({ model: "sandbox-chat", messages });
  expect(answer.choices[0]?.finish_reason).toBe("stop");
  expect(gateway.output()).not.toContain("TypeError");
});
