import { readFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { makeParseableResponseFormat } from "openai/lib/parser";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat-gateway.ts";
import { citySchema, offerTool, vendorModels, writeClientCatalog } from "../harness/client-catalog.ts";
import { createDataDirectory, findFreePort, startGatewayProcess } from "../harness/gateway-process.ts";

/** What clients make of an answer before they send it back: fields of the SDK's own, and every empty field as `null`. */

type Message = OpenAI.ChatCompletionMessageParam;

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeClientCatalog });
  caller = await chat.createCaller({ cash: "1000" });
});
afterAll(() => chat[Symbol.asyncDispose]());

const hello: Message = { role: "user", content: "Hello" };

/** As the SDK for Python writes a message with `model_dump()`. */
const dumped = {
  role: "assistant",
  content: "Hi",
  refusal: null,
  annotations: [],
  audio: null,
  function_call: null,
  tool_calls: null,
};

/** What is not the model's never reaches an upstream: many refuse a request for it. */
function expectUnsent(fields: readonly string[]): void {
  const sent = chat.upstream.requests.at(-1)?.body.toString() ?? "";
  expect(sent).not.toBe("");
  for (const field of fields) expect(sent).not.toContain(`"${field}"`);
}

test.each(vendorModels)("%s: an answer whose empty fields are null goes back", async (model) => {
  const response = await caller.post({ model, messages: [hello, dumped, { role: "user", content: "Again" }] });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Again")]);
  expectUnsent(["annotations", "function_call", "tool_calls"]);
});

test("an answer that the SDK has parsed goes back as it came", async () => {
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

test("a tool call that the SDK has parsed goes back as it came", async () => {
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

test("the sandbox lives on when an answer comes back whose empty fields are null", async () => {
  using data = createDataDirectory();
  const port = await findFreePort();
  await using gateway = await startGatewayProcess({ environment: { SLUICE_DATA_DIR: data.path, SLUICE_PORT: port } });
  const apiKey = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
  const client = new OpenAI({ apiKey, baseURL: `http://localhost:${port}/v1`, maxRetries: 0 });
  const messages = [hello, dumped as unknown as Message, hello];
  const answer = await client.chat.completions.create({ model: "sandbox-chat", messages });
  expect(answer.choices[0]?.finish_reason).toBe("stop");
  expect(gateway.output()).not.toContain("TypeError");
});
