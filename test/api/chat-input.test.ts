import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ask,
  askWithCall,
  askWithPart,
  callPlace,
  expectPassed as expectPassedBy,
  expectRefusal as expectRefusalOf,
  type Fields,
  hello,
  image,
  type Refusal,
  schemaFormat,
  tool,
  writeInputCatalog,
} from "../harness/chat/chat-asks.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeInputCatalog, extraFields: ["top_k", "min_p", "think"] });
  caller = await chat.createCaller();
});
afterAll(() => chat[Symbol.asyncDispose]());

const expectRefusal = (
  body: unknown,
  refusal: Refusal,
  { by = caller, headers = {} }: { by?: ChatCaller; headers?: Record<string, string> } = {},
) => expectRefusalOf({ chat, by, headers }, body, refusal);

const expectPassed = (body: Fields) => expectPassedBy(chat, body);

type Case = readonly [name: string, body: unknown, code: string, param: string | null, message: RegExp];

function describeRefusals(title: string, cases: readonly Case[]): void {
  describe(title, () => {
    test.each(cases)("%s", async (_name, body, code, param, message) => {
      await expectRefusal(body, { code, param, message });
    });
  });
}

const missing = "missing_parameter";
const invalid = "invalid_parameter";
const unknown = "unknown_parameter";
const unsupported = "unsupported_capability";

const rolesOf = /one of.*system, developer, user, assistant, tool/;

describeRefusals("empty or malformed messages are rejected", [
  ["no model", ask({ model: undefined }), missing, "model", /`model` is required/],
  ["an empty model", ask({ model: "" }), invalid, "model", /`model` must not be empty/],
  ["a model that is not a string", ask({ model: 7 }), invalid, "model", /`model` must be of type string/],
  ["no messages", ask({ messages: undefined }), missing, "messages", /`messages` is required/],
  ["null for messages", ask({ messages: null }), invalid, "messages", /must be of type array/],
  ["a text for messages", ask({ messages: "Hello" }), invalid, "messages", /must be of type array/],
  ["empty messages", ask({ messages: [] }), invalid, "messages", /at least 1 item/],
  ["a message that is a text", ask({ messages: ["Hello"] }), invalid, "messages[0]", /must be of type object/],
  ["a message that is null", ask({ messages: [hello, null] }), invalid, "messages[1]", /must be of type object/],
  ["an unknown role", ask({ messages: [{ ...hello, role: "robot" }] }), invalid, "messages[0].role", rolesOf],
  ["no role", ask({ messages: [hello, { content: "Hi" }] }), missing, "messages[1].role", rolesOf],
  ["no content", ask({ messages: [{ role: "user" }] }), missing, "messages[0].content", /is required/],
  ["null as content", ask({ messages: [{ ...hello, content: null }] }), invalid, "messages[0].content", /string/],
  ["no parts", askWithPart(), invalid, "messages[0].content", /at least 1 item/],
  [
    "an assistant message without content or tool calls",
    ask({ messages: [hello, { role: "assistant", content: null }, hello] }),
    missing,
    "messages[1].content",
    /needs `content` or `tool_calls`/,
  ],
  [
    "a tool result without a call id",
    ask({ messages: [hello, { role: "tool", content: "4" }] }),
    missing,
    "messages[1].tool_call_id",
    /is required/,
  ],
  ["a tool call without an id", askWithCall({ id: undefined }), missing, `${callPlace}.id`, /is required/],
  [
    "a tool call of no type",
    askWithCall({ type: undefined, function: undefined }),
    missing,
    `${callPlace}.type`,
    /function, custom/,
  ],
  [
    "arguments that are an object",
    askWithCall({ function: { name: "add", arguments: {} } }),
    invalid,
    `${callPlace}.function.arguments`,
    /must be of type string/,
  ],
]);

describeRefusals("an invalid content part is rejected", [
  ["of an unknown type", askWithPart({ type: "video" }), invalid, "messages[0].content[0].type", /text, image_url/],
  ["without a type", askWithPart({ text: "Hello" }), missing, "messages[0].content[0].type", /text, image_url/],
  ["that is a text", askWithPart("Hello"), invalid, "messages[0].content[0]", /must be of type object/],
  ["without its text", askWithPart({ type: "text" }), missing, "messages[0].content[0].text", /is required/],
  ["without its image", askWithPart({ type: "image_url" }), missing, "messages[0].content[0].image_url", /required/],
  [
    "with an image as a plain string",
    askWithPart({ type: "image_url", image_url: "https://example.com/a.png" }),
    invalid,
    "messages[0].content[0].image_url",
    /must be of type object/,
  ],
  ["without a URL", askWithPart(image(undefined)), missing, "messages[0].content[0].image_url.url", /required/],
  [
    "with an unknown detail",
    askWithPart({ type: "image_url", image_url: { url: "https://example.com/a.png", detail: "ultra" } }),
    invalid,
    "messages[0].content[0].image_url.detail",
    /auto, low, high/,
  ],
  [
    "with an image where only text is allowed",
    ask({ messages: [{ role: "system", content: [image("https://example.com/a.png")] }] }),
    invalid,
    "messages[0].content[0].type",
    /must be one of: text/,
  ],
]);

const place = "messages[0].content[0].image_url.url";

describe("an image URL", () => {
  test.each([
    ["http://example.com/a.png", /https/],
    ["ftp://example.com/a.png", /https/],
    ["file:///etc/passwd", /https/],
    ["javascript:alert(1)", /https/],
    ["blob:https://example.com/7", /https/],
    ["a.png", /not valid/],
    ["//example.com/a.png", /not valid/],
    ["https://", /not valid/],
    ["", /not valid/],
    ["https://exa mple.com/", /spaces/],
    ["https://example.com\\@127.0.0.1/", /backslashes/],
    ["https://127.0.0.1/a.png", /not public/],
    ["https://127.1/", /not public/],
    ["https://2130706433/", /not public/],
    ["https://0x7f.0.0.1/", /not public/],
    ["https://0177.0.0.1/", /not public/],
    ["https://127.0.0.1./", /not public/],
    ["https://localhost/", /not public/],
    ["https://LOCALHOST./", /not public/],
    ["https://printer/", /not public/],
    ["https://metadata.google.internal/computeMetadata/v1/", /not public/],
    ["https://169.254.169.254/latest/meta-data/", /not public/],
    ["https://[::ffff:169.254.169.254]/", /not public/],
    ["https://10.0.0.1/", /not public/],
    ["https://172.16.0.1/", /not public/],
    ["https://192.168.1.1/", /not public/],
    ["https://100.64.0.1/", /not public/],
    ["https://0.0.0.0/", /not public/],
    ["https://[::1]/", /not public/],
    ["https://[::ffff:127.0.0.1]/", /not public/],
    ["https://[::ffff:7f00:1]/", /not public/],
    ["https://[fe80::1]/", /not public/],
    ["https://[fd00::1]/", /not public/],
    ["https://①②⑦.⓪.⓪.①/", /not public/],
    ["https://user@example.com/a.png", /user name/],
    ["https://user:password@example.com/a.png", /user name/],
    ["https://example.com:0/", /port/],
    [`https://example.com/${"a".repeat(8192)}`, /8192 characters/],
    ["data:text/html;base64,PGI+", /data:image\/png/],
    ["data:image/svg+xml;base64,PHN2Zz4=", /data:image\/png/],
    ["data:image/png,raw", /data:image\/png/],
    ["data:image/png;base64,", /data:image\/png/],
    ["data:image/png;base64,<script>", /data:image\/png/],
    ["data:", /data:image\/png/],
  ])("%s is rejected without being fetched", async (url, message) => {
    await expectRefusal(askWithPart({ type: "text", text: "What is it?" }, image(url)), {
      code: "invalid_url",
      param: "messages[0].content[1].image_url.url",
      message,
    });
  });

  test.each([7, null, { href: "https://example.com" }])("%j is not a URL", async (url) => {
    await expectRefusal(askWithPart(image(url)), { code: invalid, param: place, message: /must be of type string/ });
  });

  test("a public URL and an inline image reach the upstream unchanged", async () => {
    const urls = ["https://example.com/a.png", "https://93.184.216.34:8443/", "data:image/png;base64,iVBORw0KGgo="];
    const { messages } = await expectPassed(askWithPart(...urls.map(image)));
    expect(messages).toEqual([{ role: "user", content: urls.map(image) }]);
  });
});

describeRefusals("invalid tools are rejected", [
  ["none at all", ask({ tools: [] }), invalid, "tools", /at least 1 item/],
  ["too many", ask({ tools: Array.from({ length: 1025 }, (_, at) => tool(`t${at}`)) }), invalid, "tools", /1024 items/],
  ["without a name", ask({ tools: [tool()] }), missing, "tools[0].function.name", /is required/],
  ["with an empty name", ask({ tools: [tool("")] }), invalid, "tools[0].function.name", /pattern/],
  ["with spaces in the name", ask({ tools: [tool("a b")] }), invalid, "tools[0].function.name", /pattern/],
  ["with a name of 65", ask({ tools: [tool("a".repeat(65))] }), invalid, "tools[0].function.name", /pattern/],
  ["of no type", ask({ tools: [{ custom: { name: "add" } }] }), missing, "tools[0].type", /function, custom/],
  ["of an unknown type", ask({ tools: [{ type: "web" }] }), invalid, "tools[0].type", /function, custom/],
  ["without their body", ask({ tools: [{ type: "function" }] }), missing, "tools[0].function", /is required/],
  [
    "with a list of parameters",
    ask({ tools: [tool("add", { parameters: [] })] }),
    invalid,
    "tools[0].function.parameters",
    /must be of type object/,
  ],
  ["two with one name", ask({ tools: [tool("a"), tool("a")] }), invalid, "tools[1].function.name", /Two tools/],
  [
    "a choice of an unknown tool",
    ask({ tools: [tool("add")], tool_choice: tool("subtract") }),
    invalid,
    "tool_choice.function.name",
    /no tool named subtract/,
  ],
  [
    "an unknown choice",
    ask({ tools: [tool("add")], tool_choice: "some" }),
    invalid,
    "tool_choice",
    /none, auto, required/,
  ],
  ["a choice among none", ask({ tool_choice: "auto" }), invalid, "tool_choice", /requires `tools`/],
  ["a named choice among none", ask({ tool_choice: tool("add") }), invalid, "tool_choice", /requires `tools`/],
  ["several calls of none", ask({ parallel_tool_calls: true }), invalid, "parallel_tool_calls", /requires `tools`/],
  [
    "tools and functions together",
    ask({ tools: [tool("add")], functions: [{ name: "add" }] }),
    invalid,
    "functions",
    /not both/,
  ],
]);

const stopWords = ["a", "b", "c", "d", "e"];

describeRefusals("options that conflict or exceed their limits are rejected", [
  [
    "stream options without a stream",
    ask({ stream_options: { include_usage: true } }),
    invalid,
    "stream_options",
    /`stream: true`/,
  ],
  [
    "stream options with stream: false",
    ask({ stream: false, stream_options: {} }),
    invalid,
    "stream_options",
    /`stream: true`/,
  ],
  ["top_logprobs alone", ask({ top_logprobs: 2 }), invalid, "top_logprobs", /`logprobs: true`/],
  ["top_logprobs of 21", ask({ logprobs: true, top_logprobs: 21 }), invalid, "top_logprobs", /<= 20/],
  ["two maximums", ask({ max_tokens: 5, max_completion_tokens: 6 }), invalid, "max_tokens", /differ/],
  ["max_tokens over the model's", ask({ max_tokens: 1001 }), invalid, "max_tokens", /at most 1000/],
  [
    "max_completion_tokens over the model's",
    ask({ max_completion_tokens: 1001 }),
    invalid,
    "max_completion_tokens",
    /at most 1000/,
  ],
  ["max_tokens of 0", ask({ max_tokens: 0 }), invalid, "max_tokens", />= 1/],
  ["a fractional max_tokens", ask({ max_tokens: 1.5 }), invalid, "max_tokens", /integer/],
  ["a temperature of 3", ask({ temperature: 3 }), invalid, "temperature", /<= 2/],
  ["a temperature of -1", ask({ temperature: -1 }), invalid, "temperature", />= 0/],
  ["a temperature as a string", ask({ temperature: "1" }), invalid, "temperature", /number/],
  ["top_p of 2", ask({ top_p: 2 }), invalid, "top_p", /<= 1/],
  ["a penalty of 3", ask({ presence_penalty: 3 }), invalid, "presence_penalty", /<= 2/],
  ["a bias of 101", ask({ logit_bias: { 50256: 101 } }), invalid, "logit_bias[50256]", /<= 100/],
  ["n of 0", ask({ n: 0 }), invalid, "n", />= 1/],
  ["n of 129", ask({ n: 129 }), invalid, "n", /<= 128/],
  ["5 stop words", ask({ stop: stopWords }), invalid, "stop", /at most 4 items/],
  ["an empty stop word", ask({ stop: [""] }), invalid, "stop[0]", /must not be empty/],
  ["an unknown effort", ask({ reasoning_effort: "huge" }), invalid, "reasoning_effort", /minimal, low/],
  ["an unknown format", ask({ response_format: { type: "xml" } }), invalid, "response_format.type", /json_schema/],
  [
    "a schema without a name",
    ask({ response_format: { type: "json_schema", json_schema: { schema: {} } } }),
    missing,
    "response_format.json_schema.name",
    /is required/,
  ],
  ["a user of 513 characters", ask({ user: "u".repeat(513) }), invalid, "user", /at most 512/],
  ["metadata that is not a string", ask({ metadata: { a: 1 } }), invalid, "metadata.a", /string/],
  [
    "17 pairs of metadata",
    ask({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, "v"])) }),
    invalid,
    "metadata",
    /16/,
  ],
  [
    "a number too large to represent",
    '{"model":"open","messages":[{"role":"user","content":"x"}],"seed":1e999}',
    invalid,
    "seed",
    /integer/,
  ],
]);

describeRefusals("an unknown field is rejected by name", [
  ["at the top", ask({ temprature: 1 }), unknown, "temprature", /`temprature` is not a field/],
  ["named like an object's built-in property", ask({ constructor: 1 }), unknown, "constructor", /not a field/],
  [
    "named __proto__",
    `{"__proto__":{},"model":"open","messages":[${JSON.stringify(hello)}]}`,
    unknown,
    "__proto__",
    /not a field/,
  ],
  ["in a message", ask({ messages: [{ ...hello, mood: "good" }] }), unknown, "messages[0].mood", /not a field/],
  [
    "in a part",
    askWithPart({ type: "text", text: "Hello", bold: true }),
    unknown,
    "messages[0].content[0].bold",
    /not/,
  ],
  ["in a tool", ask({ tools: [tool("add", { cost: 1 })] }), unknown, "tools[0].function.cost", /not a field/],
  [
    "in the options of a stream",
    ask({ stream: true, stream_options: { all: true } }),
    unknown,
    "stream_options.all",
    /not/,
  ],
  ["of another model's route", ask({ think: true }), unknown, "think", /not a field/],
]);

const extraCases: readonly (readonly [string, Fields, string])[] = [
  ["service_tier", ask({ service_tier: "flex" }), "service_tier"],
  ["store", ask({ store: true }), "store"],
  ["audio", ask({ audio: { voice: "alloy", format: "wav" } }), "audio"],
  ["modalities", ask({ modalities: ["text", "audio"] }), "modalities"],
  ["prediction", ask({ prediction: { type: "content", content: "Hello" } }), "prediction"],
  ["web_search_options", ask({ web_search_options: {} }), "web_search_options"],
  [
    "sound",
    askWithPart({ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }),
    "messages[0].content[0]",
  ],
  ["a file", askWithPart({ type: "file", file: { file_id: "file_1" } }), "messages[0].content[0]"],
];

describe("an option that costs more or sends data outside needs the catalog's permission", () => {
  test.each(extraCases)("%s is rejected without it", async (_name, body, param) => {
    await expectRefusal(body, { code: unsupported, param, message: /^open does not take `/ });
  });

  test.each(extraCases)("%s reaches the upstream unchanged with it", async (_name, body, param) => {
    const field = param.startsWith("messages") ? "messages" : param;
    expect((await expectPassed({ ...body, model: "generous" }))[field]).toEqual(body[field]);
  });

  test("store: false needs no permission", async () => {
    expect(await expectPassed(ask({ store: false }))).toMatchObject({ store: false });
  });
});

describe("a vendor's own field", () => {
  test("reaches only the route that names it, however often it is sent", async () => {
    for (let round = 0; round < 8; round += 1) {
      const body = await expectPassed(ask({ model: "vendor", top_k: 5, min_p: 0.1 }));
      expect(body).toMatchObject({ model: `${canary}-first`, top_k: 5, min_p: 0.1 });
      expect(await expectPassed(ask({ model: "vendor", think: true }))).toMatchObject({ model: `${canary}-second` });
    }
  });

  test.each([
    ["that is unknown beside a known one", { top_k: 1, mirostat: 2 }, unknown, "mirostat", /not a field/],
    ["of two routes at once", { top_k: 1, think: true }, unsupported, "think", /together with the other fields/],
  ])("is rejected with one %s", async (_name, fields, code, param, message) => {
    await expectRefusal(ask({ model: "vendor", ...fields }), { code, param, message });
  });
});

describeRefusals("input over the context window is rejected", [
  [
    "by its characters",
    ask({ model: "short", messages: [hello, { role: "user", content: "x".repeat(16) }] }),
    "context_length_exceeded",
    "messages",
    /maximum context length is 20 characters.*have 21/,
  ],
  [
    "by its characters in parts",
    { ...askWithPart({ type: "text", text: "x".repeat(11) }, { type: "text", text: "y".repeat(10) }), model: "short" },
    "context_length_exceeded",
    "messages",
    /maximum context length is 20 characters.*have 21/,
  ],
  [
    "far beyond the context window",
    ask({ model: "narrow", messages: [{ role: "user", content: "x".repeat(161) }] }),
    "context_length_exceeded",
    "messages",
    /maximum context length is 10 tokens/,
  ],
]);

test("input that just fits is sent", async () => {
  await expectPassed(ask({ model: "short", messages: [{ role: "user", content: "x".repeat(20) }] }));
  await expectPassed(ask({ model: "narrow", messages: [{ role: "user", content: "x".repeat(160) }] }));
  expect(await expectPassed(ask({ max_tokens: 1000 }))).toMatchObject({ max_completion_tokens: 1000 });
  expect(await expectPassed(ask({ max_tokens: 7, max_completion_tokens: 7 }))).toMatchObject({
    max_completion_tokens: 7,
  });
});

const picture = askWithPart(image("https://example.com/a.png"));

describeRefusals("a request for a feature that the model lacks is rejected", [
  ["chat", ask({ model: "picture" }), unsupported, "model", /picture is not a chat model. Its type is image/],
  ["streaming", ask({ model: "plain", stream: true }), unsupported, "stream", /capability streaming/],
  ["tools", ask({ model: "plain", tools: [tool("add")] }), unsupported, "tools", /capability tools/],
  ["functions", ask({ model: "plain", functions: [{ name: "add" }] }), unsupported, "functions", /capability tools/],
  ["vision", { ...picture, model: "plain" }, unsupported, "messages[0].content[0]", /capability vision/],
  [
    "a schema",
    ask({ model: "plain", response_format: schemaFormat({}) }),
    unsupported,
    "response_format",
    /capability json_schema/,
  ],
  [
    "reasoning",
    ask({ model: "plain", reasoning_effort: "low" }),
    unsupported,
    "reasoning_effort",
    /capability reasoning/,
  ],
]);

test("a request for a model's default behaviour is accepted for every model", async () => {
  await expectPassed(
    ask({ model: "plain", stream: false, reasoning_effort: "none", response_format: { type: "text" } }),
  );
});

describeRefusals("a request for a feature that the vendor lacks is rejected before the upstream is called", [
  ["two choices", ask({ model: "anthropic", n: 2 }), unsupported, "n", /does not support n/],
  ["probabilities", ask({ model: "anthropic", logprobs: true }), unsupported, "logprobs", /does not support logprobs/],
  ["a seed", ask({ model: "anthropic", seed: 1 }), unsupported, "seed", /does not support seed/],
  ["a temperature of 1.5", ask({ model: "anthropic", temperature: 1.5 }), unsupported, "temperature", /at most 1/],
  [
    "JSON without a schema",
    ask({ model: "anthropic", response_format: { type: "json_object" } }),
    unsupported,
    "response_format",
    /json_schema/,
  ],
  ["two choices from Google", ask({ model: "google", n: 2 }), unsupported, "n", /does not support n/],
  ["a bias", ask({ model: "google", logit_bias: { 5: 1 } }), unsupported, "logit_bias", /does not support logit_bias/],
  ["two choices from a package", ask({ model: "packaged", n: 2 }), unsupported, "n", /does not support n/],
  [
    "tools of another type",
    ask({ model: "google", tools: [{ type: "custom", custom: { name: "sh" } }] }),
    unsupported,
    "tools[0]",
    /custom tools/,
  ],
]);

describe("a model that the caller cannot use", () => {
  test("is not found when it does not exist or is misspelled", async () => {
    for (const model of ["gone", "OPEN", "open ", "__proto__", "\ud800"]) {
      await expectRefusal(ask({ model }), {
        status: 404,
        code: "model_unavailable",
        param: "model",
        message: /^There is no model `.+`\. The nearest names are `/,
      });
    }
  });

  test("is not found under its upstream's name, which only the caller's own word repeats", async () => {
    const model = `${canary}-open`;
    const { key } = await chat.createCaller();
    // Not `chat.fetch`, which forbids the word.
    const response = await fetch(`${chat.gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(ask({ model })),
    });
    expect(response.status).toBe(404);
    expect((await response.text()).replace(`There is no model \`${model}\``, "")).not.toContain(canary);
  });

  test("is forbidden when the key's scope excludes it", async () => {
    const by = await chat.createCaller({ modelIds: ["google"] });
    const refusal = { status: 403, code: "key_not_permitted", param: "model", message: /may not use this model/ };
    await expectRefusal(ask(), refusal, { by });
    await expectRefusal(
      ask({ model: "gone" }),
      { ...refusal, status: 404, code: "model_unavailable", message: /^There is no model `gone`/ },
      { by },
    );
  });

  test("is forbidden with all others when the key is not for chat", async () => {
    const by = await chat.createCaller({ endpoints: ["models"] });
    await expectRefusal(
      ask(),
      { status: 403, code: "key_not_permitted", param: null, message: /chat endpoints/ },
      { by },
    );
  });
});

describe("an invalid body", () => {
  test.each([
    ["not JSON", "model=open", 400, "invalid_json", /not valid JSON/],
    ["cut off", '{"model": "open"', 400, "invalid_json", /not valid JSON/],
    ["empty", "", 400, "invalid_json", /empty/],
    ["null", "null", 400, invalid, /object/],
    ["a list", "[]", 400, invalid, /object/],
    ["a text", '"Hello"', 400, invalid, /object/],
  ])("%s is rejected", async (_name, body, status, code, message) => {
    await expectRefusal(body, { status, code, param: null, message });
  });

  test("is rejected with another content type or encoding", async () => {
    const refusal = { status: 415, code: "unsupported_media_type", param: null, message: /application\/json/ };
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      await expectRefusal(ask(), refusal, { headers: { "content-type": type } });
    }
    const headers = { "content-type": "application/json; charset=latin1" };
    await expectRefusal(ask(), { ...refusal, param: "Content-Type", message: /UTF-8/ }, { headers });
  });

  test("is rejected when it is not UTF-8, and never misread", async () => {
    const [before = "", after = ""] = JSON.stringify(ask({ user: "|" })).split("|");
    const body = Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)]);
    const response = await chat.fetch(`${chat.gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
      body,
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: "invalid_json" } }]);
  });

  test("over the size limit gets a 413 that names the limit", async () => {
    const content = "x".repeat(20 * 1024 * 1024);
    await expectRefusal(ask({ messages: [{ role: "user", content }] }), {
      ...{ status: 413, code: "payload_too_large", param: null, message: /20971520 bytes/ },
    });
  });
});

test.each([
  ["empty", ""],
  ["empty between quotes", '""'],
  ["too long", "k".repeat(256)],
  ["with spaces", "a key"],
  ["not ASCII", "schl\u00fcssel"],
])("an Idempotency-Key that is %s is rejected", async (_name, key) => {
  await expectRefusal(
    ask(),
    { code: invalid, param: "Idempotency-Key", message: /1 to 255 visible ASCII characters/ },
    { headers: { "idempotency-key": key } },
  );
});

describe("impossible tool choices are rejected", () => {
  const functions = [{ name: "add" }];
  const allowed = { mode: "auto", tools: [tool("subtract")] };

  test.each<Case>([
    ["a metadata key of 65 characters", ask({ metadata: { ["k".repeat(65)]: "v" } }), invalid, "metadata", /64/],
    ["a metadata key with a line break", ask({ metadata: { "a\nb": 7 } }), invalid, "metadata.a\nb", /string/],
    ["a bias key with a line break", ask({ logit_bias: { "a\nb": "x" } }), invalid, "logit_bias.a\nb", /number/],
    ["a function_call without functions", ask({ function_call: "auto" }), invalid, "function_call", /functions/],
    [
      "a function_call of an unknown function",
      ask({ functions, function_call: { name: "b" } }),
      invalid,
      "function_call.name",
      /no tool/,
    ],
    [
      "two functions with one name",
      ask({ functions: [...functions, ...functions] }),
      invalid,
      "functions[1].name",
      /Two/,
    ],
    [
      "a choice of a tool of another type",
      ask({ tools: [tool("add")], tool_choice: { type: "custom", custom: { name: "add" } } }),
      invalid,
      "tool_choice.custom.name",
      /no tool/,
    ],
    [
      "allowed tools that are not defined",
      ask({ tools: [tool("add")], tool_choice: { type: "allowed_tools", allowed_tools: allowed } }),
      invalid,
      "tool_choice.allowed_tools.tools[0]",
      /no tool/,
    ],
    [
      "an assistant whose function call is null",
      ask({ messages: [hello, { role: "assistant", content: null, function_call: null }, hello] }),
      missing,
      "messages[1].content",
      /needs `content` or `tool_calls`/,
    ],
  ])("%s", async (_name, body, code, param, message) => {
    const by = await chat.createCaller();
    await expectRefusal(body, { code, param, message }, { by });
  });
});
