import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Fields, hello, tool, writeInputCatalog } from "../harness/chat/chat-asks.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { pixel, pixelUrl } from "../harness/chat/client-catalog.ts";
import { listChatPlaces, type Place } from "../harness/chat/openai-types.ts";

/** Sends every field that the installed `openai` package's types allow to a real gateway. */

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeInputCatalog });
  caller = await chat.createCaller({ cash: "100000" });
});
afterAll(() => chat[Symbol.asyncDispose]());

const none = Symbol("no default");
const call = { id: "call_1", type: "function", function: { name: "add", arguments: "{}" } };

/** Values for fields that do not accept every text or number. */
const samples = {
  model: "open",
  messages: [hello],
  "messages[user].content[image_url].image_url.url": pixelUrl,
  "messages[user].content[input_audio].input_audio.data": pixel,
  "messages[assistant].function_call.name": "add",
  "messages[assistant].tool_calls": [call],
};

/** Every optional field of the package's types, with OpenAI's default. */
const defaults: Readonly<Record<string, unknown>> = {
  audio: none,
  frequency_penalty: 0,
  function_call: "auto",
  functions: none,
  "functions.description": none,
  "functions.parameters": none,
  logit_bias: {},
  logprobs: false,
  max_completion_tokens: none,
  max_tokens: none,
  "messages[assistant].audio": none,
  "messages[assistant].content": none,
  "messages[assistant].content[text].prompt_cache_breakpoint": none,
  "messages[assistant].content[text].prompt_cache_breakpoint.ttl": none,
  "messages[assistant].function_call": none,
  "messages[assistant].name": none,
  "messages[assistant].refusal": none,
  "messages[assistant].tool_calls": none,
  "messages[developer].content[text].prompt_cache_breakpoint": none,
  "messages[developer].content[text].prompt_cache_breakpoint.ttl": none,
  "messages[developer].name": none,
  "messages[system].content[text].prompt_cache_breakpoint": none,
  "messages[system].content[text].prompt_cache_breakpoint.ttl": none,
  "messages[system].name": none,
  "messages[tool].content[text].prompt_cache_breakpoint": none,
  "messages[tool].content[text].prompt_cache_breakpoint.ttl": none,
  "messages[user].content[file].file.file_data": none,
  "messages[user].content[file].file.file_id": none,
  "messages[user].content[file].file.filename": none,
  "messages[user].content[file].prompt_cache_breakpoint": none,
  "messages[user].content[file].prompt_cache_breakpoint.ttl": none,
  "messages[user].content[image_url].image_url.detail": "auto",
  "messages[user].content[image_url].prompt_cache_breakpoint": none,
  "messages[user].content[image_url].prompt_cache_breakpoint.ttl": none,
  "messages[user].content[input_audio].prompt_cache_breakpoint": none,
  "messages[user].content[input_audio].prompt_cache_breakpoint.ttl": none,
  "messages[user].content[text].prompt_cache_breakpoint": none,
  "messages[user].content[text].prompt_cache_breakpoint.ttl": none,
  "messages[user].name": none,
  metadata: {},
  modalities: ["text"],
  moderation: none,
  "moderation.policy": none,
  "moderation.policy.input": none,
  "moderation.policy.output": none,
  n: 1,
  parallel_tool_calls: true,
  prediction: none,
  "prediction[content].content[text].prompt_cache_breakpoint": none,
  "prediction[content].content[text].prompt_cache_breakpoint.ttl": none,
  presence_penalty: 0,
  prompt_cache_key: none,
  prompt_cache_options: {},
  "prompt_cache_options.mode": "implicit",
  "prompt_cache_options.ttl": none,
  prompt_cache_retention: none,
  reasoning_effort: none,
  response_format: { type: "text" },
  "response_format[json_schema].json_schema.description": none,
  "response_format[json_schema].json_schema.schema": none,
  "response_format[json_schema].json_schema.strict": false,
  safety_identifier: none,
  seed: none,
  service_tier: "auto",
  stop: none,
  store: false,
  stream: false,
  stream_options: {},
  "stream_options.include_obfuscation": true,
  "stream_options.include_usage": false,
  temperature: 1,
  tool_choice: "auto",
  tools: none,
  "tools[custom].custom.description": none,
  "tools[custom].custom.format": { type: "text" },
  "tools[function].function.description": none,
  "tools[function].function.parameters": none,
  "tools[function].function.strict": false,
  top_logprobs: none,
  top_p: 1,
  user: none,
  verbosity: "medium",
  web_search_options: none,
  "web_search_options.search_context_size": "medium",
  "web_search_options.user_location": none,
  "web_search_options.user_location[approximate].approximate.city": none,
  "web_search_options.user_location[approximate].approximate.country": none,
  "web_search_options.user_location[approximate].approximate.region": none,
  "web_search_options.user_location[approximate].approximate.timezone": none,
};

const places = listChatPlaces(samples);

/** Sends fields that only some models accept to a model that accepts them. */
function chooseModel({ path }: Place): string {
  const isExtra = /^(audio|prediction|web_search_options)[.[]|\[(input_audio|file)\]/.test(path);
  return isExtra ? "generous" : "open";
}

/** Adds the fields that OpenAI requires beside the tested one. */
function complete(request: Fields): Fields {
  const messages = (request.messages as Fields[]).map(completeMessage);
  const [first] = messages;
  const added: Fields = {};
  if ((request.tool_choice ?? request.parallel_tool_calls) !== undefined) added.tools = [tool("add")];
  if (request.function_call !== undefined) added.functions = [{ name: "add" }];
  if (request.stream_options !== undefined) added.stream = true;
  if (request.top_logprobs !== undefined) added.logprobs = true;
  const calls = first?.tool_calls != null;
  if (first?.role === "tool") messages.unshift(hello, { role: "assistant", tool_calls: [{ ...call, id: "text" }] });
  if (first?.role === "assistant") messages.unshift(hello);
  if (calls) messages.push({ role: "tool", tool_call_id: "call_1", content: "4" });
  return { ...added, ...request, messages };
}

function completeMessage(message: Fields): Fields {
  if (message.role === "assistant" && message.content == null && message.tool_calls == null) {
    return { ...message, ...("content" in message ? { refusal: "No." } : { content: "Hi" }) };
  }
  if (!Array.isArray(message.content)) return message;
  const parts = message.content.map((part: Fields) =>
    part.type === "file" && (part.file as Fields).file_data == null && (part.file as Fields).file_id == null
      ? { ...part, file: { ...(part.file as Fields), [lackingFile(part.file as Fields)]: "file_1" } }
      : part,
  );
  return { ...message, content: parts };
}

function lackingFile(file: Fields): string {
  return "file_id" in file ? "file_data" : "file_id";
}

async function send(place: Place, value: unknown, model = chooseModel(place)): Promise<[number, string]> {
  const response = await caller.post(complete({ ...place.request(value), model }));
  const text = await response.text();
  return [response.status, response.status === 200 ? "" : text];
}

test("the table contains exactly the optional fields of the package's types", () => {
  const optional = places.filter(({ isOptional }) => isOptional).map(({ path }) => path);
  expect(Object.keys(defaults).toSorted()).toEqual([...new Set(optional)].toSorted());
});

describe("null means the default", () => {
  test.each(places.map((place) => [place.path, place] as const))("%s", async (_path, place) => {
    expect(await send(place, null)).toEqual([200, ""]);
    // Not every upstream accepts `null` for an optional field, so the gateway leaves it out.
    const { refusal, json } = chat.upstream.requests.at(-1) ?? {};
    expect(refusal).toBeNull();
    expect(JSON.stringify(json).replaceAll(/"(content|refusal)":null/g, "")).not.toContain("null");
  });
});

describe("an explicit default changes nothing", () => {
  const withDefaults = places.filter(({ path }) => Object.hasOwn(defaults, path) && defaults[path] !== none);
  test.each(withDefaults.map((place) => [place.path, place] as const))("%s", async (path, place) => {
    expect(await send(place, defaults[path])).toEqual([200, ""]);
    expect(chat.upstream.requests.at(-1)?.refusal).toBeNull();
  });

  test.each(["anthropic", "google", "packaged"])("%s accepts all of them together", async (model) => {
    const all = withDefaults.filter(({ path }) => /^[a-z_]+$/.test(path) && path !== "function_call");
    const fields = Object.fromEntries(all.map(({ path }) => [path, defaults[path]]));
    const response = await caller.post(complete({ ...fields, model, messages: [hello], stream: true }));
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("[DONE]")]);
  });
});

describe("every value that the types list is known", () => {
  const enumerated = places.filter(({ literals }) => literals.length > 1);
  test.each(enumerated.map((place) => [place.path, place] as const))("%s", async (_path, place) => {
    for (const value of place.literals) expect(await send(place, value, "generous")).toEqual([200, ""]);
  });
});

test.each([{ service_tier: "auto" }, { service_tier: "default" }, { modalities: ["text"] }])(
  "%j requests nothing and is not sent to a model that does not take the field",
  async (fields) => {
    const [field = ""] = Object.keys(fields);
    for (const model of ["open", "generous"]) {
      const response = await caller.post({ model, messages: [hello], ...fields });
      expect([response.status, (await response.text()).slice(0, 5)]).toEqual([200, '{"id"']);
      const sent = chat.upstream.requests.at(-1)?.json as Fields;
      expect(sent[field]).toEqual(model === "open" ? undefined : Object.values(fields)[0]);
    }
  },
);
