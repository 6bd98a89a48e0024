import fc from "fast-check";
import { expect, test } from "vitest";
import { restoreReasoningDetails } from "./reasoning-details.ts";
import { sanitiseAnswerChoice, sanitiseChunkChoice } from "./sanitise-choice.ts";

const canary = "vendor-canary";

const token = { token: "H", logprob: -0.5, bytes: [72], top_logprobs: [{ token: "J", logprob: -1, bytes: null }] };
const call = { id: "call_1", type: "function", function: { name: "look", arguments: '{"a":1}' } };
const customCall = { id: "call_2", type: "custom", custom: { name: "draw", input: "cat" } };
const content = {
  role: "assistant",
  content: "Hello",
  refusal: "No",
  reasoning_content: "Hm",
  function_call: { name: "old", arguments: "{}" },
  audio: { id: "audio_1", data: "UklG", transcript: "spoken", expires_at: 12 },
  annotations: [
    { type: "url_citation", url_citation: { start_index: 0, end_index: 1, url: "https://a.example", title: "A" } },
  ],
};
const logprobs = { content: [token], refusal: null };
const chunkChoice = {
  index: 3,
  delta: {
    ...content,
    tool_calls: [
      { index: 0, ...call },
      { index: 4, ...customCall },
    ],
  },
  finish_reason: "tool_calls",
  logprobs,
};
const answerChoice = {
  index: 3,
  message: { ...content, tool_calls: [call, customCall] },
  finish_reason: "stop",
  logprobs,
};

function cleanChunk(value: unknown) {
  const written = { text: "" };
  return { clean: sanitiseChunkChoice(value, written), text: written.text };
}

function cleanAnswer(value: unknown) {
  const written = { text: "" };
  return { clean: sanitiseAnswerChoice(value, 0, written), text: written.text };
}

test("everything in the contract passes", () => {
  expect(cleanChunk(chunkChoice).clean).toEqual(chunkChoice);
  expect(cleanAnswer(answerChoice).clean).toEqual(answerChoice);
});

test("all text is counted", () => {
  expect(cleanChunk(chunkChoice).text).toBe('HmHelloNolook{"a":1}drawcatold{}spoken');
  expect(cleanAnswer(answerChoice).text).toBe('HmHelloNolook{"a":1}drawcatold{}spoken');
});

/** Adds unknown fields to every object, and a canary in every place that is not the model's text. */
function plant(value: unknown): unknown {
  if (Array.isArray(value)) return [...value.map(plant), canary, { [canary]: canary, type: canary }];
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, plant(inner)]);
  return { ...Object.fromEntries(entries), vendor_id: canary, provider: { name: canary }, [canary]: [canary] };
}

test("nothing else passes, wherever it is", () => {
  expect(JSON.stringify(cleanChunk(plant(chunkChoice)))).not.toContain(canary);
  expect(JSON.stringify(cleanAnswer(plant(answerChoice)))).not.toContain(canary);
});

const leaf = fc.oneof(fc.jsonValue(), fc.constantFrom(null, canary, 7, -1, 1e300, "", [], {}, true));

test("any input becomes a choice or nothing", () => {
  const odd = fc.record(
    { index: leaf, finish_reason: leaf, logprobs: leaf, delta: leaf, message: leaf },
    { requiredKeys: [] },
  );
  const names = ["role", "content", "refusal", "reasoning", "tool_calls", "function_call", "audio", "annotations"];
  const inner = fc.dictionary(fc.constantFrom(...names), leaf);
  const reasons = ["stop", "length", "tool_calls", "content_filter", "function_call", null];
  fc.assert(
    fc.property(odd, inner, leaf, (choice, part, other) => {
      for (const value of [choice, { ...choice, delta: part, message: part }, other]) {
        const { clean } = cleanChunk(value);
        if (clean !== null) expect(reasons).toContain(clean.finish_reason);
        if (clean !== null) expect(clean.index).toBeLessThan(128);
        const whole = cleanAnswer(value).clean;
        if (whole !== null) expect(whole.message).toMatchObject({ role: "assistant" });
      }
    }),
  );
});

test.each([
  ["stop", "stop"],
  ["eos", "stop"],
  ["vendor_word", "stop"],
  ["insufficient_system_resource", "length"],
  ["", null],
  [null, null],
  [undefined, null],
  [5, null],
])("the finish reason %j becomes %j", (reason, told) => {
  expect(cleanChunk({ index: 0, delta: {}, finish_reason: reason }).clean?.finish_reason).toBe(told);
});

test("a complete answer always has a role, a content, a refusal, a finish reason and log probabilities, maybe null", () => {
  expect(cleanAnswer({ message: {} }).clean).toEqual({
    index: 0,
    message: { role: "assistant", content: null, refusal: null },
    finish_reason: "stop",
    logprobs: null,
  });
});

test.each([
  [{ reasoning: "Hm" }, { reasoning_content: "Hm" }],
  [{ reasoning_content: "Hm", reasoning: "Hm" }, { reasoning_content: "Hm" }],
  [{ reasoning_content: null, reasoning: "Hm" }, { reasoning_content: "Hm" }],
  [
    { content: "a", reasoning: null },
    { content: "a", reasoning_content: null },
  ],
  [
    {
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    },
    { content: "ab" },
  ],
  [
    {
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "Hm" }] },
        { type: "text", text: "a" },
      ],
    },
    { content: "a", reasoning_content: "Hm" },
  ],
  [{ function_call: { name: "f", arguments: { a: 1 } } }, { function_call: { name: "f", arguments: '{"a":1}' } }],
])("vendors' quirks are normalised: %j", (delta, clean) => {
  expect(cleanChunk({ index: 0, delta }).clean?.delta).toEqual(clean);
});

function cleanId(id: unknown, isWhole = false): string | undefined {
  const calls = [{ index: 0, id, type: "function", function: { name: "f", arguments: "{}" } }];
  const source = { index: 0, delta: { tool_calls: calls }, message: { tool_calls: calls } };
  const part = isWhole ? cleanAnswer(source).clean?.message : cleanChunk(source).clean?.delta;
  const [first] = (part?.tool_calls ?? []) as { id?: string }[];
  return first?.id;
}

test("usual tool call ids stay unchanged", () => {
  for (const id of ["call_abc-123", "a".repeat(64), "chatcmpl-tool-9"]) expect(cleanId(id)).toBe(id);
});

test("unusual tool call ids are replaced deterministically", () => {
  for (const id of ["functions.look:0", "a".repeat(65), "ü", "vendor.example/1"]) {
    expect(cleanId(id)).toMatch(/^call_[A-Za-z0-9_-]{24}$/);
    expect(cleanId(id)).toBe(cleanId(id));
  }
  expect(cleanId("functions.look:0")).not.toBe(cleanId("functions.look:1"));
});

test("a tool call of a complete answer always has an id; a fragment need not have one", () => {
  expect(cleanId("", true)).toMatch(/^call_/);
  expect(cleanId(undefined, true)).toMatch(/^call_/);
  expect(cleanId("")).toBeUndefined();
  expect(cleanId(7)).toBeUndefined();
});

test("inline images pass, and those behind a URL do not", () => {
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const images = [
    { type: "image_url", image_url: { url }, index: 0, canary },
    { type: "image_url", image_url: { url: `https://${canary}.example/a.png` } },
  ];
  const written: { text: string; isContent?: true } = { text: "" };
  const choice = sanitiseAnswerChoice({ message: { role: "assistant", content: "", images } }, 0, written);
  expect(choice?.message.images).toEqual([{ index: 0, type: "image_url", image_url: { url } }]);
  expect(written).toEqual({ text: "", isContent: true });
});

test("reasoning in OpenRouter's format passes, with a number for the format that names the vendor", () => {
  const details = [
    { type: "reasoning.text", text: "Hm", signature: "c2ln", format: "anthropic-claude-v1", index: 0, id: null },
    { type: "reasoning.encrypted", data: "ZGF0YQ==", format: `${canary}-v1`, id: "rs_1", provider: canary },
  ];
  const written = { text: "" };
  const choice = sanitiseChunkChoice({ index: 0, delta: { reasoning: "Hm", reasoning_details: details } }, written);
  expect(choice?.delta).toEqual({
    reasoning_content: "Hm",
    reasoning_details: [
      { type: "reasoning.text", text: "Hm", signature: "c2ln", index: 0, id: null, format: "format-1" },
      { type: "reasoning.encrypted", data: "ZGF0YQ==", id: "rs_1" },
    ],
  });
  expect(written.text).toBe("Hm");
  const [first] = choice?.delta.reasoning_details ?? [];
  expect(restoreReasoningDetails([{ ...first }])).toMatchObject([{ format: "anthropic-claude-v1" }]);
});

test.each([
  ["Snowflake's, with an empty custom call beside it", { custom: {} }],
  ["one with an unnamed custom call beside it", { custom: { name: "", input: "" } }],
])("a function call keeps its name: %s", (_name, more) => {
  const calls = [{ ...call, ...more }];
  const message = { role: "assistant", content: "", tool_calls: calls };
  // Snowflake leaves the finish reason empty.
  expect(sanitiseAnswerChoice({ message, finish_reason: "" }, 0, { text: "" })).toMatchObject({
    message: { tool_calls: [call] },
    finish_reason: "tool_calls",
  });
});

test.each([
  ["refusal", "content_filter"],
  ["SAFETY", "content_filter"],
  ["MODEL_ARMOR", "content_filter"],
  ["max_tokens", "length"],
])("the finish reason %s, forwarded from another vendor, is %s", (reason, told) => {
  expect(sanitiseChunkChoice({ delta: {}, finish_reason: reason }, { text: "" })?.finish_reason).toBe(told);
});
