import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import type {
  ChatAnswer,
  ChatCall,
  ChatPiece,
  ChatProvider,
  ChatRun,
  ChatUsage,
  NativeRequest,
  NativeWire,
  ProviderError,
} from "../../../src/providers/contract.ts";
import type { ProviderDefinition } from "../../../src/providers/provider-definition.ts";
import { createProviderRegistry } from "../../../src/providers/provider-registry.ts";
import {
  type Behaviour,
  canary,
  type FakeUpstreams,
  findCanary,
  startFakeUpstreams,
} from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let fake: FakeUpstreams;
const registry = createProviderRegistry({ clock: systemClock, studioFolder: "/nowhere" });
beforeAll(async () => {
  fake = await startFakeUpstreams({ extraFields: ["vendor_wish"] });
});
afterAll(async () => {
  await registry.close();
  await fake[Symbol.asyncDispose]();
});

/** Completions have events of chat, not of their own: `test/api/completions.test.ts` covers them. */
type EventWire = Exclude<NativeWire, "completions">;

const envelopes = { messages: { id: "msg_ours", model: "house" }, responses: { id: "resp_ours", model: "house" } };
const bodies: Record<EventWire, Record<string, unknown>> = {
  messages: { model: "house", max_tokens: 500, messages: [{ role: "user", content: "Hello there" }] },
  responses: { model: "house", max_output_tokens: 500, input: "Hello there" },
};

function getChat(wire: EventWire, change: Partial<ProviderDefinition> = {}): ChatProvider {
  const definition: ProviderDefinition =
    wire === "messages"
      ? { id: "claude", kind: "anthropic", base_url: fake.anthropicUrl, ...change }
      : { id: "open", kind: "openai-compatible", base_url: fake.openAiUrl, native_wires: ["responses"], ...change };
  return registry.getChat(definition);
}

type Heard = {
  order: string[];
  pieces: ChatPiece[];
  usage: ChatUsage | null;
  answer: ChatAnswer | null;
  error: ProviderError | null;
};

type Ask = {
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  chat?: ChatProvider;
  behaviour?: Behaviour;
  call?: Partial<ChatCall>;
};

function start(
  wire: EventWire,
  ask: Ask = {},
  onPieces: (run: ChatRun) => void = () => {},
): { heard: Heard; run: ChatRun; over: Promise<Heard> } {
  const body = { ...bodies[wire], ...ask.body };
  const native: NativeRequest = { wire, body, headers: ask.headers ?? {}, obstacle: null, envelope: envelopes[wire] };
  const heard: Heard = { order: [], pieces: [], usage: null, answer: null, error: null };
  const over = Promise.withResolvers<Heard>();
  const end = (what: string): void => {
    heard.order.push(what);
    over.resolve(heard);
  };
  if (ask.behaviour !== undefined) fake.script(ask.behaviour);
  const run = (ask.chat ?? getChat(wire)).startChat(
    {
      request: { model: "house", messages: [{ role: "user", content: "Hello there" }], stream: body.stream === true },
      native,
      ...{ upstreamModel: `${canary}-large`, apiKey: `sk-${canary}`, outputTokensMax: 500 },
      timeouts: { connectMs: 10_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 20_000 },
      ...ask.call,
    },
    {
      onAccepted: () => heard.order.push("accepted"),
      onPieces(pieces) {
        if (heard.order.at(-1) !== "pieces") heard.order.push("pieces");
        heard.pieces.push(...pieces);
        onPieces(run);
      },
      onEnd(usage) {
        heard.usage = usage;
        end("end");
      },
      onAnswer(answer) {
        heard.answer = answer;
        end("answer");
      },
      onError(error) {
        heard.error = error;
        end("error");
      },
    },
  );
  return { heard, run, over: over.promise };
}

function readSent(): Record<string, unknown> {
  return fake.requests.at(-1)?.json as Record<string, unknown>;
}

type WireEvent = { type: string } & Record<string, unknown>;

/** The events that a caller would receive, each with its own name. */
function readEvents({ pieces }: Heard): WireEvent[] {
  const text = pieces.map(({ nativeEvents = "" }) => nativeEvents).join("");
  return text
    .split("\n\n")
    .filter((lines) => lines !== "")
    .map((lines) => {
      const [, name, data] = lines.match(/^event: (\S+)\ndata: (.*)$/) ?? [];
      const event = JSON.parse(data ?? "null");
      expect(event.type).toBe(name);
      return event;
    });
}

const textOf = ({ pieces }: Heard): string => pieces.map(({ text }) => text).join("");

describe("by Messages", () => {
  test("the body goes to the vendor unchanged, except for the model and the limit", async () => {
    const body = {
      max_tokens: 900,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [
        { role: "user", content: "Look it up" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1~c2VhbGVk", name: "look", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1~c2VhbGVk", content: "Rain" }] },
      ],
      tools: [{ name: "look", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } }],
      metadata: { user_id: "theirs" },
      top_k: 5,
    };
    const headers = { "anthropic-beta": "context-management-2025-06-27", "anthropic-version": "2023-06-01" };
    const cacheControl = { isAutomatic: false, allowsHour: true };
    const { error } = await start("messages", { body, headers, call: { outputTokensMax: 800, cacheControl } }).over;
    expect(error).toBeNull();
    const mended = JSON.parse(JSON.stringify(body).replaceAll("~c2VhbGVk", ""));
    expect(readSent()).toEqual({ ...mended, model: `${canary}-large`, max_tokens: 800 });
    expect(fake.requests.at(-1)?.headers).toMatchObject({ ...headers, "x-api-key": `sk-${canary}` });
    expect(fake.requests.at(-1)?.path).toBe("/anthropic/v1/messages");
  });

  test("cache markers are set if the provider enables them, and none for longer than is sold", async () => {
    await start("messages", { call: { cacheControl: { isAutomatic: true, allowsHour: false } } }).over;
    const mark = { type: "ephemeral" };
    expect(readSent().messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Hello there", cache_control: mark }] },
    ]);
    await start("messages", { body: { cache_control: { ...mark, ttl: "1h" } } }).over;
    expect(readSent().cache_control).toEqual(mark);
  });

  test("the version header is added if the caller sent none, and the operator's value takes precedence", async () => {
    await start("messages").over;
    expect(fake.requests.at(-1)?.headers["anthropic-version"]).toBe("2023-06-01");
    const chat = getChat("messages", { headers: { "Anthropic-Version": "2024-01-01", "anthropic-beta": "ours" } });
    await start("messages", { chat, headers: { "anthropic-version": "2023-06-01", "anthropic-beta": "theirs" } }).over;
    const { headers } = fake.requests.at(-1) ?? {};
    expect([headers?.["anthropic-version"], headers?.["anthropic-beta"]]).toEqual(["2024-01-01", "ours, theirs"]);
  });

  test("a thinking budget that the balance no longer covers shrinks with the limit, or is removed", async () => {
    const body = { max_tokens: 8000, thinking: { type: "enabled", budget_tokens: 4000 } };
    const budgets: unknown[] = [];
    for (const outputTokensMax of [8000, 3000, 1200]) {
      await start("messages", { body, call: { outputTokensMax } }).over;
      budgets.push([readSent().max_tokens, readSent().thinking]);
    }
    expect(budgets).toEqual([
      [8000, { type: "enabled", budget_tokens: 4000 }],
      [3000, { type: "enabled", budget_tokens: 2488 }],
      [1200, undefined],
    ]);
    expect(fake.refusals()).toEqual([]);
  });

  test("a whole answer comes back in its own format, with our id and model, and is counted", async () => {
    const { answer, order } = await start("messages", {
      behaviour: {
        thinking: "Hm.",
        usage: { inputTokens: 100, cachedInputTokens: 60, cacheWriteTokens: 30, outputTokens: 7, reasoningTokens: 1 },
        hasVendorFields: true,
      },
    }).over;
    expect(order).toEqual(["accepted", "answer"]);
    expect(answer?.nativeBody).toEqual({
      ...{ id: "msg_ours", type: "message", role: "assistant", model: "house" },
      content: [
        { type: "thinking", thinking: "Hm.", signature: expect.any(String) },
        { type: "text", text: "Echo: Hello there" },
      ],
      ...{ stop_reason: "end_turn", stop_sequence: null, stop_details: null },
    });
    expect(answer?.text).toBe("Hm.Echo: Hello there");
    expect(answer?.choices).toContain('"finish_reason":"stop"');
    expect(answer?.usage).toMatchObject({
      ...{ inputTokens: 100, outputTokens: 7, cachedInputTokens: 60, cacheWriteTokens: 30, reasoningTokens: 1 },
    });
    expect(findCanary(answer)).toBeNull();
  });

  test("events pass in order, all but the last, and the meter counts all of the text", async () => {
    const heard = await start("messages", {
      body: { stream: true },
      behaviour: {
        ...{ thinking: "Let me see.", hasVendorFields: true, isSplitAtEveryByte: true, hasComments: true },
        toolCalls: [{ id: "toolu_9", name: "look", fragments: ['{"a":', "1}"] }],
        usage: { inputTokens: 50, cachedInputTokens: 20, cacheWriteTokens: 10, outputTokens: 9 },
      },
    }).over;
    const events = readEvents(heard);
    const [first, ...rest] = events;
    expect(first?.message).toMatchObject({ id: "msg_ours", model: "house", content: [], stop_reason: null });
    expect(first?.message).toHaveProperty("usage.cache_read_input_tokens", 20);
    expect(rest.at(-1)).toMatchObject({
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { input_tokens: 20, cache_creation_input_tokens: 10, cache_read_input_tokens: 20, output_tokens: 9 },
    });
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "content_block_start")).toHaveLength(2);
    expect(types).toContain("ping");
    expect(types).not.toContain("message_stop");
    expect(textOf(heard)).toBe('Let me see.look{"a":1}');
    expect(heard.pieces[0]?.usage).toMatchObject({ inputTokens: 50, cachedInputTokens: 20, cacheWriteTokens: 10 });
    expect(heard.usage).toMatchObject({
      inputTokens: 50,
      outputTokens: 9,
      cachedInputTokens: 20,
      cacheWriteTokens: 10,
    });
    expect(heard.pieces.at(-1)?.choices).toContain('"finish_reason":"tool_calls"');
    expect(heard.pieces.slice(0, -1).every(({ isUnfinished }) => isUnfinished)).toBe(true);
    expect(findCanary(heard)).toBeNull();
  });

  test("unknown fields of a block pass, and so does an unknown event without vendor names", async () => {
    const write = (event: WireEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    const block = { type: "hologram", shape: "cube" };
    const heard = await start("messages", {
      body: { stream: true },
      behaviour: {
        rawChunks: [
          write({ type: "message_start", message: { id: "msg_theirs", model: `${canary}-large`, usage: {} } }),
          write({ type: "content_block_start", index: 0, content_block: block, trace: canary }),
          write({ type: "content_block_delta", index: 0, delta: { type: "hologram_delta", points: [1] } }),
          write({ type: "weather_report", sky: "blue" }),
          write({ type: "audit_trail", of: "msg_theirs" }),
          write({ type: "audit_trail", model: `${canary}-large` }),
          write({ type: "content_block_stop", index: 0 }),
          write({ type: "message_delta", delta: { stop_reason: `${canary}_reason` }, usage: { output_tokens: 3 } }),
          write({ type: "message_stop" }),
        ],
      },
    }).over;
    expect(readEvents(heard).slice(1)).toEqual([
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta: { type: "hologram_delta", points: [1] } },
      { type: "weather_report", sky: "blue" },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 3 },
      },
    ]);
    expect(findCanary(heard)).toBeNull();
  });

  test.for<[string, Behaviour, string]>([
    ["a request at fault", { status: 400 }, "rejected"],
    ["a prompt too long", { status: 400, error: { message: "prompt is too long: 3 tokens > 2" } }, "too-long"],
    ["a wrong key", { status: 401 }, "key-refused"],
    ["too many calls", { status: 429, headers: { "retry-after": "7" } }, "rate-limited"],
    ["a busy server", { status: 529 }, "overloaded"],
    ["a page in place of an answer", { status: 502, contentType: "text/html", body: `<p>${canary}</p>` }, "overloaded"],
    ["a cut before the head", { cut: "before-head" }, "unreachable"],
    ["a redirect", { redirectTo: "http://127.0.0.1:1/" }, "bad-answer"],
    ["broken JSON", { isMalformed: true }, "bad-answer"],
  ])("%s is classified by its kind, whole or streamed", async ([, behaviour, kind]) => {
    for (const stream of [false, true]) {
      const { error, order } = await start("messages", { body: { stream }, behaviour }).over;
      expect([error?.kind, order.at(-1)]).toEqual([kind, "error"]);
      if (kind === "rate-limited") expect(error?.retryAfterMs).toBe(7000);
    }
  });

  test.for<[string, Behaviour, string]>([
    ["an error", { errorAfterPieces: 1 }, "overloaded"],
    ["a cut", { cut: { afterPieces: 1 } }, "unreachable"],
    ["a cut inside an event", { cut: { afterPieces: 1, where: "inside-chunk" } }, "unreachable"],
    ["an end without a reason", { hasNoFinish: true, hasNoDone: true }, "bad-answer"],
  ])("after %s in mid-stream, the events before it are delivered", async ([, behaviour, kind]) => {
    for (const wire of ["messages", "responses"] as const) {
      const heard = await start(wire, { body: { stream: true }, behaviour }).over;
      expect([wire, heard.error?.kind, heard.order]).toEqual([wire, kind, ["accepted", "pieces", "error"]]);
      expect("Echo: Hello there".startsWith(textOf(heard))).toBe(true);
      expect(textOf(heard)).not.toBe("");
      expect(findCanary(heard.pieces)).toBeNull();
    }
  });

  test("a vendor that fails after its start event has delivered nothing: another can be tried", async () => {
    const begun = `event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5}}}\n\n`;
    const ping = `event: ping\ndata: {"type":"ping"}\n\n`;
    const failed = `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n`;
    const created = `data: {"type":"response.created","response":{"id":"r","status":"in_progress"}}\n\n`;
    for (const [wire, ...rawChunks] of [
      ["messages", begun, ping, failed],
      ["responses", created, `data: {"type":"error","code":"server_error","message":"x"}\n\n`],
    ] as const) {
      const heard = await start(wire, { body: { stream: true }, behaviour: { rawChunks } }).over;
      expect([heard.order, heard.error?.kind]).toEqual([["accepted", "error"], "overloaded"]);
    }
  });

  test("a message with a stop reason can lack nothing but its usage", async () => {
    const { order, usage } = await start("messages", { body: { stream: true }, behaviour: { hasNoDone: true } }).over;
    expect([order.at(-1), usage?.outputTokens]).toEqual(["end", 3]);
  });

  test("an OpenAI-compatible provider that also offers Messages is called there, with its own key", async () => {
    const chat = getChat("responses", { native_wires: ["messages", "responses"] });
    const { answer } = await start("messages", { chat }).over;
    expect(answer?.nativeBody).toMatchObject({ id: "msg_ours", content: [{ type: "text" }] });
    const { path, headers } = fake.requests.at(-1) ?? {};
    expect([path, headers?.authorization]).toEqual(["/openai/v1/messages", `Bearer sk-${canary}`]);
  });
});

describe("by Responses", () => {
  test("the body goes to the vendor unchanged, except for the model, the limit and `store`", async () => {
    const body = {
      ...{ store: true, background: false, previous_response_id: "resp_before", reasoning: { effort: "low" } },
      input: [{ role: "user", content: "Hello there" }],
      vendor_wish: "granted",
      prompt_cache_key: "k",
    };
    const { error } = await start("responses", { body, call: { outputTokensMax: 300 } }).over;
    expect(error).toBeNull();
    expect(readSent()).toEqual({
      model: `${canary}-large`,
      max_output_tokens: 300,
      store: false,
      reasoning: { effort: "low" },
      include: ["reasoning.encrypted_content"],
      input: [{ role: "user", content: "Hello there" }],
      vendor_wish: "granted",
      prompt_cache_key: "k",
    });
    expect(fake.requests.at(-1)?.path).toBe("/openai/v1/responses");
  });

  test("a whole answer comes back in its own format, with our id and model, and is counted", async () => {
    const { answer } = await start("responses", {
      behaviour: {
        ...{ thinking: "Hm.", hasVendorFields: true },
        usage: { inputTokens: 40, cachedInputTokens: 10, outputTokens: 8, reasoningTokens: 2 },
      },
    }).over;
    expect(answer?.nativeBody).toMatchObject({
      ...{ id: "resp_ours", object: "response", status: "completed", model: "house", max_output_tokens: 500 },
      output: [
        { type: "reasoning", encrypted_content: expect.any(String), summary: [{ type: "summary_text", text: "Hm." }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Echo: Hello there" }] },
      ],
    });
    expect(answer?.nativeBody).not.toHaveProperty("usage");
    expect(answer?.text).toBe("Hm.Echo: Hello there");
    expect(answer?.usage).toMatchObject({
      inputTokens: 40,
      cachedInputTokens: 10,
      outputTokens: 8,
      reasoningTokens: 2,
    });
    expect(findCanary(answer)).toBeNull();
  });

  test("events pass in order, numbered without a gap, and the meter counts all of the text", async () => {
    const heard = await start("responses", {
      body: { stream: true },
      behaviour: {
        ...{ thinking: "Let me see.", hasVendorFields: true, isSplitAtEveryByte: true },
        toolCalls: [{ id: "call_9", name: "look", fragments: ['{"a":', "1}"] }],
        usage: { inputTokens: 50, outputTokens: 9 },
      },
    }).over;
    const events = readEvents(heard);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    expect(events[0]).toMatchObject({ type: "response.created", response: { id: "resp_ours", model: "house" } });
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: {
        id: "resp_ours",
        output: [{ type: "reasoning" }, { type: "function_call", call_id: "call_9", arguments: '{"a":1}' }],
        usage: { input_tokens: 50, output_tokens: 9, total_tokens: 59 },
      },
    });
    expect(textOf(heard)).toBe('Let me see.look{"a":1}');
    expect(heard.pieces.at(-1)?.choices).toContain('"finish_reason":"tool_calls"');
    expect(heard.usage).toMatchObject({ inputTokens: 50, outputTokens: 9 });
    expect(findCanary(heard)).toBeNull();
  });

  test("an omitted event leaves no gap, and one without a number gets one", async () => {
    const write = (event: WireEvent) => `data: ${JSON.stringify(event)}\n\n`;
    const response = { id: "resp_theirs", object: "response", status: "completed", output: [] };
    const heard = await start("responses", {
      body: { stream: true },
      behaviour: {
        rawChunks: [
          write({ type: "response.created", response, sequence_number: 0 }),
          write({ type: "response.audit", of: "resp_theirs", sequence_number: 1 }),
          write({ type: "response.hologram", shape: "cube", sequence_number: 2 }),
          write({ type: "response.output_text.delta", item_id: "m", delta: 'a "sequence_number":7 b' }),
          write({ type: "response.incomplete", response: { ...response, status: "incomplete" }, sequence_number: 9 }),
        ],
      },
    }).over;
    expect(readEvents(heard)).toMatchObject([
      { type: "response.created", sequence_number: 0 },
      { type: "response.hologram", shape: "cube", sequence_number: 1 },
      { type: "response.output_text.delta", delta: 'a "sequence_number":7 b', sequence_number: 2 },
      { type: "response.incomplete", sequence_number: 3 },
    ]);
    expect(heard.pieces.at(-1)?.choices).toContain('"finish_reason":"length"');
  });

  test.for<[string, string]>([
    ["server_error", "overloaded"],
    ["rate_limit_exceeded", "rate-limited"],
    ["invalid_prompt", "rejected"],
    ["image_too_large", "rejected"],
    ["bio_policy", "content-refused"],
  ])("a response that failed with %s is %s", async ([code, kind]) => {
    const error = { code, message: canary };
    const failed = { id: "resp_theirs", object: "response", status: "failed", error, output: [] };
    const event = `data: ${JSON.stringify({ type: "response.failed", response: failed })}\n\n`;
    const streamed = await start("responses", { body: { stream: true }, behaviour: { rawChunks: [event] } }).over;
    const whole = await start("responses", { behaviour: { body: JSON.stringify(failed) } }).over;
    expect([streamed.error?.kind, whole.error?.kind]).toEqual([kind, kind]);
  });
});

/** Answers without text, in the formats of the vendors' SDKs (November 2026). Not recorded. */
const compaction = {
  ...{ id: "msg_theirs", type: "message", role: "assistant", model: "theirs" },
  content: [{ type: "compaction", content: "They talked about the weather." }],
  ...{ stop_reason: "compaction", stop_sequence: null },
  usage: {
    ...{ input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    iterations: [
      {
        ...{ type: "compaction", input_tokens: 80_000, output_tokens: 1_555 },
        ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 2_000 },
      },
    ],
  },
};

test("the tokens that Anthropic used to compact a context are counted, whole and streamed", async () => {
  const counted = { inputTokens: 82_000, outputTokens: 1_555, cachedInputTokens: 2_000 };
  const whole = await start("messages", { behaviour: { body: JSON.stringify(compaction) } }).over;
  expect(whole.answer).toMatchObject({ text: "They talked about the weather.", isContent: true, usage: counted });
  expect(whole.answer?.nativeBody).toMatchObject({ content: compaction.content, stop_reason: "compaction" });
  const [block] = compaction.content;
  const write = (event: WireEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  const message = { ...compaction, content: [], stop_reason: null, usage: { input_tokens: 0, output_tokens: 0 } };
  const rawChunks = [
    write({ type: "message_start", message }),
    write({ type: "content_block_start", index: 0, content_block: { type: "compaction", content: "" } }),
    write({ type: "content_block_delta", index: 0, delta: { ...block, type: "compaction_delta" } }),
    write({ type: "content_block_stop", index: 0 }),
    write({ type: "message_delta", delta: { stop_reason: "compaction" }, usage: compaction.usage }),
    write({ type: "message_stop" }),
  ];
  const streamed = await start("messages", { body: { stream: true }, behaviour: { rawChunks } }).over;
  expect(streamed.usage).toMatchObject(counted);
  expect(textOf(streamed)).toBe("They talked about the weather.");
  expect(readEvents(streamed)).toContainEqual(JSON.parse(rawChunks[2]?.split("data: ")[1] ?? ""));
});

const done = { status: "completed" };
const items: { type: string; written: string; item: Record<string, unknown> }[] = [
  {
    ...{ type: "apply_patch_call", written: "a.txt@@ -1 +1 @@" },
    item: { call_id: "call_1", operation: { type: "update_file", path: "a.txt", diff: "@@ -1 +1 @@" } },
  },
  { type: "shell_call", written: "ls -la", item: { call_id: "call_1", action: { commands: ["ls -la"] } } },
  { type: "local_shell_call", written: "pwd", item: { call_id: "call_1", action: { type: "exec", command: ["pwd"] } } },
  { type: "computer_call", written: "", item: { call_id: "call_1", action: { type: "click", x: 3, y: 4 } } },
  { type: "tool_search_call", written: "weather", item: { arguments: { query: "weather" } } },
  { type: "image_generation_call", written: "", item: { result: "iVBORw0KGgo=" } },
  { type: "hologram_call", written: "a cube", item: { shape: "a cube" } },
];

test.for(items)("a response that is only a $type passes and is content", async ({ type, item, written }) => {
  const whole = { id: `it_${type}`, type, ...done, ...item };
  const usage = { input_tokens: 30, output_tokens: 12, total_tokens: 42 };
  const response = { id: "resp_theirs", object: "response", ...done, output: [whole], usage };
  const { answer } = await start("responses", { behaviour: { body: JSON.stringify(response) } }).over;
  expect(answer).toMatchObject({ isContent: true, usage: { inputTokens: 30, outputTokens: 12 } });
  expect(answer?.nativeBody?.output).toEqual([whole]);
  expect(answer?.text).toBe(written);
  const write = (event: WireEvent) => `data: ${JSON.stringify(event)}\n\n`;
  const rawChunks = [
    write({ type: "response.created", response: { ...response, status: "in_progress", output: [] } }),
    write({ type: "response.output_item.added", output_index: 0, item: { ...whole, status: "in_progress" } }),
    write({ type: "response.output_item.done", output_index: 0, item: whole }),
    write({ type: "response.completed", response }),
  ];
  const streamed = await start("responses", { body: { stream: true }, behaviour: { rawChunks } }).over;
  expect(readEvents(streamed).map((event) => event.item)).toContainEqual(whole);
  expect(streamed.pieces.some(({ isContent }) => isContent === true)).toBe(true);
  expect(textOf(streamed)).toBe(written);
  expect(streamed.usage).toMatchObject({ inputTokens: 30, outputTokens: 12 });
});

test.for(["messages", "responses"] as const)(
  "by %s a call is paused, resumed and canceled like any other",
  async (wire) => {
    const gate = fake.gate();
    const behaviour: Behaviour = { pieces: ["one ", "two ", "three"], beforeEnd: gate };
    const paused = start(wire, { body: { stream: true }, behaviour }, (run) => run.pause());
    await waitUntil("the first data", () => paused.heard.pieces.length > 0);
    paused.run.resume();
    gate.open();
    await waitUntil("the rest", () => {
      paused.run.resume();
      return paused.heard.order.at(-1) === "end";
    });
    expect(textOf(paused.heard)).toBe("one two three");

    const before = fake.abortedCalls().length;
    const cancelled = start(wire, { body: { stream: true }, behaviour: { isEndless: true } }, (run) => run.cancel());
    await fake.aborted(before + 1);
    expect(cancelled.heard.order).toEqual(["accepted", "pieces"]);
  },
);

describe("similar events", () => {
  const write = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
  const texts = ["plain", ' "quoted" \\ ', "line\nend", "", "日本 😀", '"text":"', '{"type":"error"}', "end"];

  test("by Messages keep their content, padded or not, whatever is written in them", async () => {
    const delta = (text: string, kind = "text") => ({
      ...{ type: "content_block_delta", index: 0, delta: { type: `${kind}_delta`, [kind]: text } },
    });
    const events = [...texts.map((text) => delta(text)), ...texts.map((text) => delta(text, "thinking"))];
    const padded = events.map((event, at) => write(event).replace(/\}\n\n$/, `${" ".repeat(at % 3)}}\n\n`));
    const end = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } };
    const rawChunks = [write({ type: "message_start", message: {} }), ...padded, write(end)];
    // A different event takes the slow path: another field, and invalid JSON.
    const odd = write({ ...delta("odd"), [`x_${canary}`]: 1 });
    for (const last of ["", odd]) {
      const heard = await start("messages", {
        body: { stream: true },
        behaviour: { rawChunks: [...rawChunks.slice(0, -1), last, write(end)] },
      }).over;
      expect(readEvents(heard).slice(1, -1)).toEqual(last === "" ? events : [...events, delta("odd")]);
      expect(textOf(heard)).toBe([...texts, ...texts, last === "" ? "" : "odd"].join(""));
      expect(findCanary(heard)).toBeNull();
    }
    const broken = write(delta("x")).replace('"x"', '"x\\q"');
    const heard = await start("messages", {
      body: { stream: true },
      behaviour: { rawChunks: [...rawChunks.slice(0, 4), broken] },
    }).over;
    expect(heard.error?.kind).toBe("bad-answer");
  });

  test("by Responses keep their content and are renumbered, with any obfuscation", async () => {
    const place = { item_id: "m", output_index: 0, content_index: 0 };
    const events = texts.map((delta, at) => ({
      ...{ type: "response.output_text.delta", sequence_number: at + 1, ...place, delta, logprobs: [] },
      obfuscation: "x".repeat(at),
    }));
    const response = { id: "resp_theirs", object: "response", status: "completed", output: [] };
    const heard = await start("responses", {
      body: { stream: true },
      behaviour: {
        rawChunks: [
          write({ type: "response.created", response, sequence_number: 0 }),
          ...events.slice(0, 4).map(write),
          // One number too far, and all after it: they are renumbered.
          ...events.slice(4).map((event) => write({ ...event, sequence_number: event.sequence_number + 5 })),
          write({ type: "response.completed", response }),
        ],
      },
    }).over;
    expect(readEvents(heard).slice(1, -1)).toEqual(events);
    expect(textOf(heard)).toBe(texts.join(""));
  });
});
