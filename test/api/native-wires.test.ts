// @module-tag slow
import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { upstreamKeyName, writeCatalogOf } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { type Behaviour, canary, type FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";
import { endlessSilence } from "../harness/upstreams/gate.ts";
import { answeredAt } from "../harness/upstreams/vendor-wire.ts";
import { waitUntil } from "../harness/wait-until.ts";

const api_keys = [`\${${upstreamKeyName}}`];

/** Providers with and without the native API, and models that use one of them, or one after the other. */
function writeCatalog(upstream: FakeUpstreams): string {
  const route = (provider: string, priority = 0, more: object = {}) => ({
    ...{ provider, priority, upstream_model: `${canary}-${provider}`, ...more },
  });
  return writeCatalogOf(upstream, {
    providers: [
      { id: "native", kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys, native_wires: ["responses"] },
    ],
    models: [
      { id: "responses", usual_output_tokens: 20, routes: [route("native")] },
      { id: "translated", usual_output_tokens: 20, routes: [route("open")] },
      { id: "responses-first", routes: [route("native", 0), route("google", 1)] },
      { id: "responses-last", routes: [route("google", 0), route("native", 1)] },
      { id: "responses-named", routes: [route("native", 0, { passthrough: ["web_search", "top_k"] })] },
      { id: "translated-named", routes: [route("open", 0, { passthrough: ["top_k"] })] },
      { id: "messages", usual_output_tokens: 20, routes: [route("anthropic")] },
      { id: "messages-first", routes: [route("anthropic", 0), route("google", 1)] },
      { id: "messages-last", routes: [route("google", 0), route("anthropic", 1)] },
      { id: "messages-named", routes: [route("anthropic", 0, { passthrough: ["code_execution"] })] },
    ],
  });
}

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeCatalog, extraFields: ["top_k"] });
});
afterAll(() => chat[Symbol.asyncDispose]());

type Body = Record<string, unknown>;

type Wire = {
  path: string;
  /** A model on the fake with the native API. */
  native: { model: string; base: string };
  ask: Body;
  lastEvent: string;
  /** A tool that the vendor runs. */
  tool: { type: string; name?: string };
};

const wires = {
  messages: {
    path: "/messages",
    native: { model: `${canary}-anthropic`, base: "/anthropic/v1" },
    ask: { messages: [{ role: "user", content: "Hello there" }], max_tokens: 500 },
    lastEvent: "message_stop",
    tool: { type: "code_execution_20250825", name: "code_execution" },
  },
  responses: {
    path: "/responses",
    native: { model: `${canary}-native`, base: "/openai/v1" },
    ask: { input: "Hello there", max_output_tokens: 500 },
    lastEvent: "response.completed",
    tool: { type: "web_search" },
  },
} as const satisfies Record<string, Wire>;
type WireName = keyof typeof wires;

/** All text of a plain response or of a stream's events, in any format. */
function readText(answer: unknown): string {
  const texts: string[] = [];
  JSON.stringify(answer, (key, value) => {
    if (key === "text" && typeof value === "string") texts.push(value);
    return value;
  });
  return texts.join("");
}

async function post(caller: ChatCaller, wire: WireName, body: Body, signal?: AbortSignal): Promise<Response> {
  return await chat.fetch(`${chat.gateway.baseUrl}${wires[wire].path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...wires[wire].ask, ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function readEvents(response: Response): Promise<Body[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as Body);
}

async function listPaid(caller: ChatCaller): Promise<string[]> {
  await caller.settled();
  return (await caller.listCharges()).map(({ paid }) => paid);
}

const usage = { inputTokens: 100, cachedInputTokens: 40, outputTokens: 20, reasoningTokens: 5 };

describe.each(Object.keys(wires) as WireName[])("by %s", (wire) => {
  const { native, path, lastEvent } = wires[wire];
  const script = (...behaviours: Behaviour[]) => chat.upstream.scriptFor({ model: native.model }, ...behaviours);

  test("a native request costs the same for its tokens as chat", async () => {
    const caller = await chat.createCaller({ cash: "100" });
    chat.upstream.script({ usage }, { usage }, { usage });
    await caller.client.chat.completions.create({ model: wire, messages: [{ role: "user", content: "Hello there" }] });
    const whole = await post(caller, wire, { model: wire });
    expect(readText(await whole.json())).toBe("Echo: Hello there");
    const events = await readEvents(await post(caller, wire, { model: wire, stream: true }));
    expect(events.at(-1)?.type).toBe(lastEvent);
    expect(await listPaid(caller)).toEqual(["0.12", "0.12", "0.12"]);
    const [, ...paths] = chat.upstream.requests.slice(-3).map((request) => request.path);
    expect(paths).toEqual([native.base + path, native.base + path]);
  });

  test.each([false, true])(
    "another route is tried before the first data, in either order (streamed: %s)",
    async (stream) => {
      const caller = await chat.createCaller();
      for (const [model, failing] of [
        [`${wire}-first`, native.model],
        [`${wire}-last`, `${canary}-google`],
      ] as const) {
        chat.upstream.scriptFor({ model: failing }, { status: 529 });
        const response = await post(caller, wire, { model, stream });
        const text = stream ? await response.text() : readText(await response.json());
        const said = expect.stringContaining(stream ? lastEvent : "Echo: Hello there");
        expect([model, response.status, text]).toEqual([model, 200, said]);
      }
      expect(await listPaid(caller)).toHaveLength(2);
      expect(chat.upstream.refusals()).toEqual([]);
    },
  );

  test("a stream that breaks off ends with an error, and the received part is charged", async () => {
    const caller = await chat.createCaller();
    script({ pieces: ["one ", "two ", "three"], cut: { afterPieces: 2 } });
    const events = await readEvents(await post(caller, wire, { model: wire, stream: true }));
    expect(JSON.stringify(events)).toContain("two ");
    expect(JSON.stringify(events)).not.toContain("three");
    expect(events.map(({ type }) => type)).toContain("error");
    expect(await listPaid(caller)).toHaveLength(1);
  });

  test("a caller who disconnects pays for the generated part", async () => {
    const caller = await chat.createCaller();
    script({ pieces: ["one ", "two "], beforeEnd: endlessSilence });
    const controller = new AbortController();
    const response = await post(caller, wire, { model: wire, stream: true }, controller.signal);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let seen = ""; !seen.includes("two "); ) seen += (await reader?.read())?.value ?? "";
    controller.abort();
    await reader?.cancel().catch(() => {});
    expect(await listPaid(caller)).toHaveLength(1);
    expect((await caller.listCharges())[0]?.items).toMatchObject({ hung_up: 1 });
  });

  test("an answer that exceeds the balance ends well-formed", async () => {
    const caller = await chat.createCaller({ cash: "0.7" });
    script({ pieces: Array.from({ length: 400 }, (_, at) => `word${at} `) });
    const response = await post(caller, wire, { model: wire, stream: true });
    expect(response.status).toBe(200);
    const events = await readEvents(response);
    expect(JSON.stringify(events.slice(-2))).toContain("insufficient_balance");
    await caller.settled();
    expect((await caller.readBalance()).frozen).toBe("0.00");
  });

  test("vendor-run tools and new fields reach only routes that name them", async () => {
    // The input of such a tool is not in the request, so the hold covers a lot of it.
    const caller = await chat.createCaller({ cash: "10000" });
    const tools = [wires[wire].tool];
    const refused = await post(caller, wire, { model: wire, tools });
    expect([refused.status, JSON.stringify(await refused.json())]).toEqual([400, expect.stringContaining("tools[0]")]);
    const taken = await post(caller, wire, { model: `${wire}-named`, tools });
    expect(taken.status).toBe(200);
    expect(chat.upstream.requests.at(-1)?.json).toMatchObject({ tools });
  });
});

test("OpenAI's SDK builds the same response from a native stream as from a plain response", async () => {
  const { client } = await chat.createCaller();
  const request = { model: "responses", input: "Hello there", reasoning: { effort: "low" as const } };
  const whole = await client.responses.create(request);
  const streamed = await client.responses.stream(request).finalResponse();
  const strip = ({ output, status, output_text: text, model }: OpenAI.Responses.Response) => ({
    ...{ status, text, model },
    output: JSON.stringify(output, (key, value) => (key === "id" || key === "parsed" ? undefined : value)),
  });
  expect(strip(streamed)).toEqual(strip(whole));
  expect(whole.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
  // The vendor's encrypted reasoning is sent back to it.
  const next = [...(whole.output as OpenAI.Responses.ResponseInputItem[]), { role: "user" as const, content: "Go on" }];
  const second = await client.responses.create({ ...request, input: next });
  expect(second.output_text).toBe("Echo: Go on");
  expect(chat.upstream.requests.at(-1)?.json).toMatchObject({ input: [{ type: "reasoning" }, {}, {}], store: false });
  expect(chat.upstream.refusals()).toEqual([]);
});

test.each(["responses", "translated"])(
  "OpenAI's SDK accepts a response that exceeded the balance: %s",
  async (model) => {
    const { client } = await chat.createCaller({ cash: "0.7" });
    chat.upstream.script({ pieces: Array.from({ length: 400 }, (_, at) => `word${at} `) });
    const response = await client.responses.stream({ model, input: "Hi" }).finalResponse();
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    expect(response).toMatchObject({ stopped_by: "insufficient_balance" });
    expect(response.output_text).toMatch(/^word0 word1 /);
  },
);

test("a stored native response can be continued by its id and by the vendor's item ids", async () => {
  const { client } = await chat.createCaller();
  const model = "responses";
  const tools = [{ type: "function" as const, name: "weather", parameters: { type: "object" }, strict: false }];
  const asked = { model, tools, input: "Please call weather" };
  for (const first of [await client.responses.create(asked), await client.responses.stream(asked).finalResponse()]) {
    const [call] = first.output;
    const callId = call?.type === "function_call" ? call.call_id : "";
    const output = { type: "function_call_output" as const, call_id: callId, output: "Rain" };
    const chained = await client.responses.create({ model, tools, input: [output], previous_response_id: first.id });
    expect(chained).toMatchObject({ output_text: "The tool says: Rain", previous_response_id: first.id, store: true });
    const reference = { type: "item_reference" as const, id: call?.id ?? "" };
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: asked.input }, reference, output];
    expect((await client.responses.create({ model, tools, input })).output_text).toBe("The tool says: Rain");
    expect(await client.responses.retrieve(chained.id)).toMatchObject({ output_text: "The tool says: Rain" });
  }
  expect(chat.upstream.refusals()).toEqual([]);
});

test("a native response was created when we say so, from its first event to its end", async () => {
  const { client } = await chat.createCaller();
  const asked = { model: "responses", input: "Hello there" };
  const begun = await client.responses.create({ ...asked, background: true });
  const over = await waitUntil("the response to be over", async () => {
    const response = await client.responses.retrieve(begun.id);
    return response.status === "in_progress" ? null : response;
  });
  expect(over).toMatchObject({ status: "completed", created_at: begun.created_at });
  const created: number[] = [];
  for await (const event of await client.responses.create({ ...asked, stream: true })) {
    if ("response" in event) created.push(event.response.created_at);
  }
  expect(new Set(created).size).toBe(1);
  expect(created.length).toBeGreaterThan(1);
  const whole = await client.responses.create(asked);
  for (const seconds of [...created, whole.created_at]) {
    expect(seconds).not.toBe(answeredAt.getTime() / 1000);
    expect(seconds).toBeGreaterThanOrEqual(begun.created_at);
  }
});

test("Anthropic's SDK builds the same message from a native stream as from a plain response", async () => {
  const { key } = await chat.createCaller();
  const client = new Anthropic({ apiKey: key, baseURL: chat.gateway.baseUrl.replace(/\/v1$/, ""), fetch: chat.fetch });
  const request = {
    ...{ model: "messages", max_tokens: 900, thinking: { type: "adaptive" as const } },
    messages: [{ role: "user" as const, content: "Hello there" }],
  };
  const whole = await client.messages.create(request);
  const streamed = await client.messages.stream(request).finalMessage();
  expect(whole.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
  const strip = ({ content, stop_reason, model, role }: Anthropic.Message) => ({
    ...{ stop_reason, model, role },
    content: JSON.stringify(content),
  });
  expect(strip(streamed)).toEqual(strip(whole));
  // The vendor's signed reasoning is sent back to it.
  const turns = [...request.messages, { role: "assistant" as const, content: whole.content }];
  const next = await client.messages.create({ ...request, messages: [...turns, { role: "user", content: "Go on" }] });
  expect(readText(next.content)).toBe("Echo: Go on");
  expect(chat.upstream.refusals()).toEqual([]);
});

/** Sends an untyped request, as a client without the vendor's types does. */
async function ask(caller: ChatCaller, wire: WireName, body: Body): Promise<Body> {
  const response = await post(caller, wire, body);
  return { ...((await response.json()) as Body), status: response.status };
}

describe("an answer without text", () => {
  test("through Responses, with another kind of item, costs the reported usage and reaches the caller", async () => {
    const item = { id: "ap_1", type: "apply_patch_call", call_id: "call_1", status: "completed", operation: {} };
    const counts = { input_tokens: 30, output_tokens: 12, total_tokens: 42 };
    const response = { id: "resp_1", object: "response", status: "completed", output: [item], usage: counts };
    const caller = await chat.createCaller();
    chat.upstream.script({ body: JSON.stringify(response) });
    const tools = [{ type: "apply_patch" }];
    expect(await ask(caller, "responses", { model: "responses", tools })).toMatchObject({ output: [item] });
    expect(await listPaid(caller)).toEqual(["0.054"]);
  });

  test("through Messages, compacted, costs the usage of its iterations", async () => {
    const content = [{ type: "compaction", content: "A summary." }];
    const iterations = [{ type: "compaction", input_tokens: 60, output_tokens: 5 }];
    const counts = { input_tokens: 0, output_tokens: 0, iterations };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "x", content, stop_reason: "compaction" };
    const caller = await chat.createCaller();
    chat.upstream.script({ body: JSON.stringify({ ...message, usage: counts }) });
    const answer = await ask(caller, "messages", { model: "messages" });
    expect(answer).toMatchObject({ content, stop_reason: "compaction", usage: { input_tokens: 60, output_tokens: 5 } });
    expect(await listPaid(caller)).toEqual(["0.07"]);
  });

  test.each(["whole", "streamed"])("through Messages, refused, %s, costs the reported usage", async (way) => {
    const caller = await chat.createCaller();
    chat.upstream.script({ text: "", finishReason: "refusal", usage: { inputTokens: 50, outputTokens: 0 } });
    const response = await post(caller, "messages", { model: "messages", stream: way === "streamed" });
    expect(await response.text()).toContain('"stop_reason":"refusal"');
    expect(await listPaid(caller)).toEqual(["0.05"]);
  });
});

describe("a tool choice beside tools that only the vendor has", () => {
  const computer = { type: "computer_20250124", name: "computer", display_width_px: 9, display_height_px: 9 };

  test.each<[WireName, Body]>([
    ["responses", { tools: [{ type: "apply_patch" }], tool_choice: "required" }],
    ["responses", { tools: [{ type: "apply_patch" }], tool_choice: { type: "apply_patch" } }],
    ["responses", { tools: [{ type: "local_shell" }], tool_choice: "auto", parallel_tool_calls: false }],
    ["messages", { tools: [computer], tool_choice: { type: "any" } }],
    ["messages", { tools: [computer], tool_choice: { type: "tool", name: "computer" } }],
  ])("through %s passes: %j", async (wire, fields) => {
    const caller = await chat.createCaller({ cash: "10000" });
    chat.upstream.script({ text: "Done" });
    const answer = await ask(caller, wire, { model: wire, ...fields });
    expect([answer.status, JSON.stringify(answer.error ?? null)]).toEqual([200, "null"]);
    expect(chat.upstream.requests.at(-1)?.json).toMatchObject(fields);
  });

  test.each<[WireName, string, Body]>([
    ["responses", "responses", { tools: [{ type: "web_search" }], tool_choice: "required" }],
    ["responses", "translated", { tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } }],
    [
      "responses",
      "responses",
      {
        tools: [{ type: "mcp", server_label: "x" }],
        tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "mcp", server_label: "x" }] },
      },
    ],
    ["messages", "messages", { tools: [wires.messages.tool], tool_choice: { type: "any" } }],
    ["messages", "messages", { tools: [wires.messages.tool], tool_choice: { type: "tool", name: "code_execution" } }],
  ])("through %s to %s, a vendor-run tool causes the rejection: %j", async (wire, model, fields) => {
    const caller = await chat.createCaller({ cash: "10000" });
    const answer = await ask(caller, wire, { model, ...fields });
    expect([answer.status, JSON.stringify(answer)]).toEqual([400, expect.stringContaining("tools[0]")]);
  });
});

test("a field that the route names passes through Responses as through chat", async () => {
  const caller = await chat.createCaller();
  const refused = await ask(caller, "responses", { model: "responses", top_k: 3 });
  expect(refused).toMatchObject({ status: 400, error: { code: "unknown_parameter", param: "top_k" } });
  for (const model of ["responses-named", "translated-named"]) {
    expect(await ask(caller, "responses", { model, top_k: 3 })).toMatchObject({ status: 200 });
    expect(chat.upstream.requests.at(-1)?.json).toMatchObject({ top_k: 3 });
  }
});

test("calls of the vendor's tools are sent back with the vendor's ids", async () => {
  const caller = await chat.createCaller();
  const input = [
    { type: "message", id: "msg_ours", role: "user", content: "Hi" },
    { type: "local_shell_call", id: "lsh_1", call_id: "call_1", status: "completed", action: { type: "exec" } },
    { type: "local_shell_call_output", id: "call_1", output: "done" },
  ];
  chat.upstream.script({ text: "Done" });
  const answer = await ask(caller, "responses", { model: "responses", input, tools: [{ type: "local_shell" }] });
  expect([answer.status, answer.error ?? null]).toEqual([200, null]);
  const [{ id: _, ...message } = { id: "" }, ...calls] = input;
  expect(chat.upstream.requests.at(-1)?.json).toMatchObject({ input: [message, ...calls] });
  expect(JSON.stringify(chat.upstream.requests.at(-1)?.json)).not.toContain("msg_ours");
});

describe("a URL that no caller may have fetched", () => {
  const user = (part: Body) => ({ input: [{ role: "user", content: [part] }] });
  const output = (type: string, parts: unknown) => ({ input: [{ type, call_id: "call_1", output: parts }] });
  const turn = (block: Body) => ({ messages: [{ role: "user", content: [block] }] });
  const places: [WireName, string, (url: string) => Body][] = [
    ["responses", "input[0].content[0].file_url", (url) => user({ type: "input_file", file_url: url })],
    [
      "responses",
      "input[0].output[0].image_url",
      (url) => output("function_call_output", [{ type: "input_image", image_url: url }]),
    ],
    [
      "responses",
      "input[0].output[0].file_url",
      (url) => output("custom_tool_call_output", [{ type: "input_file", file_url: url }]),
    ],
    [
      "responses",
      "input[0].output.image_url",
      (url) => output("computer_call_output", { type: "computer_screenshot", image_url: url }),
    ],
    [
      "responses",
      "input[0].pages[0].file_url",
      (url) => ({ input: [{ type: "hologram", pages: [{ file_url: url }] }] }),
    ],
    ["responses", "tools[0].server_url", (url) => ({ tools: [{ type: "mcp", server_label: "x", server_url: url }] })],
    ["messages", "messages[0].content[0].source.url", (url) => turn({ type: "image", source: { type: "url", url } })],
    [
      "messages",
      "messages[0].content[0].source.url",
      (url) => turn({ type: "document", source: { type: "url", url }, title: "A" }),
    ],
    [
      "messages",
      "messages[0].content[0].content[0].source.url",
      (url) =>
        turn({
          ...{ type: "tool_result", tool_use_id: "toolu_1" },
          content: [{ type: "document", source: { type: "url", url } }],
        }),
    ],
    ["messages", "mcp_servers[0].url", (url) => ({ mcp_servers: [{ type: "url", name: "x", url }] })],
  ];
  const urls = ["http://pictures.example.com/a.png", "https://169.254.169.254/latest", "https://intranet.local/a.pdf"];

  test.each(places)("through %s is rejected before any upstream is called: %s", async (wire, place, write) => {
    const caller = await chat.createCaller({ cash: "10000" });
    const before = chat.upstream.requests.length;
    for (const url of urls) {
      const answer = await ask(caller, wire, { model: wire, ...write(url) });
      expect([answer.status, JSON.stringify(answer)]).toEqual([400, expect.stringMatching(/The URL (must|points)/)]);
      if (wire === "responses") expect(answer).toMatchObject({ error: { code: "invalid_url", param: place } });
      else expect(JSON.stringify(answer)).toContain(place);
    }
    expect(chat.upstream.requests.length).toBe(before);
    await caller.settled();
    expect(await caller.listHolds()).toEqual([]);
  });

  test("in tool arguments or in a schema is accepted, because it is not fetched", async () => {
    const caller = await chat.createCaller();
    const input = { file_url: "http://localhost/a", source: { type: "url", url: "http://localhost/b" } };
    const tools = [{ name: "look", input_schema: { type: "object", properties: { image_url: { url: "http://x" } } } }];
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "http://localhost/c" }] },
    ];
    expect(await ask(caller, "messages", { model: "messages", messages, tools })).toMatchObject({ status: 200 });
  });
});
