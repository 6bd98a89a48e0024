import { expect, test } from "vitest";
import type { ChatRequest } from "../chat-request.ts";
import { buildUpstreamBody, isRequested, type UpstreamQuirks } from "./build-upstream-request.ts";

const quirks: UpstreamQuirks = {
  outputCapField: "max_completion_tokens",
  asksStreamUsage: true,
  vendorFields: new Set(),
  dialect: null,
  systemRole: "as-sent",
  unsupportedFields: [],
};
const messages: ChatRequest["messages"] = [
  { role: "developer", content: "Be brief." },
  { role: "user", content: "Hi", name: "ann" },
];

function build(request: Partial<ChatRequest>, more: Partial<UpstreamQuirks> = {}): Record<string, unknown> {
  const call = {
    request: { model: "ours", messages, ...request },
    upstreamModel: "theirs",
    apiKey: null,
    outputTokensMax: 77,
    timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
  };
  return JSON.parse(String(buildUpstreamBody(call, { ...quirks, ...more })));
}

test("the caller's fields are forwarded, with our model and cap", () => {
  const said = {
    temperature: 0,
    user: "u",
    metadata: { a: "b" },
    store: true,
    seed: null,
    stop: ["x"],
    vendor_field: 1,
  };
  expect(build({ ...said, max_tokens: 5000, max_completion_tokens: 6000 })).toEqual({
    model: "theirs",
    messages,
    ...said,
    max_completion_tokens: 77,
  });
});

test.each([
  ["max_tokens", { max_tokens: 77 }],
  ["max_completion_tokens", { max_completion_tokens: 77 }],
] as const)("the cap is sent as %s even if the caller set none", (outputCapField, cap) => {
  expect(build({}, { outputCapField })).toEqual({ model: "theirs", messages, ...cap });
});

test("without a cap field none is sent, and the answer is streamed so that it can be stopped", () => {
  expect(build({ max_tokens: 5 }, { outputCapField: "none" })).toEqual({
    model: "theirs",
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test("a stream always requests usage, whatever the caller's options", () => {
  const request = { stream: true, stream_options: { include_usage: false, include_obfuscation: true } };
  expect(build(request)).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  expect(build(request).stream_options).toEqual({ include_usage: true });
  expect(build(request, { asksStreamUsage: false })).not.toHaveProperty("stream_options");
  expect(build({ ...request, stream: false })).not.toHaveProperty("stream_options");
});

test("`stream` is not sent if the caller did not send it", () => {
  expect(build({ stream: null })).not.toHaveProperty("stream");
  expect(build({ stream: false })).toHaveProperty("stream", false);
});

test("developer messages become system messages if the upstream has no developer role", () => {
  expect(build({}, { systemRole: "system" }).messages).toEqual([{ role: "system", content: "Be brief." }, messages[1]]);
});

test("unsupported fields are not sent, even with default values", () => {
  expect(build({ n: 1, seed: null }, { unsupportedFields: ["n", "seed"] })).not.toHaveProperty("n");
});

test.each([
  ["n", 1, false],
  ["n", 2, true],
  ["logprobs", false, false],
  ["parallel_tool_calls", false, true],
  ["parallel_tool_calls", true, false],
  ["seed", 0, true],
  ["seed", null, false],
  ["seed", undefined, false],
])("%s with %s is requested: %s", (field, value, isAsked) => {
  expect(isRequested({ model: "m", messages, [field]: value }, field)).toBe(isAsked);
});

test("cache hints are forwarded if supported, and dropped otherwise", () => {
  const said = { prompt_cache_key: "agent-1", prompt_cache_retention: "24h" };
  expect(build(said)).toMatchObject(said);
  const left = build(said, { unsupportedFields: ["prompt_cache_key"] });
  expect(left).not.toHaveProperty("prompt_cache_key");
  expect(left).toHaveProperty("prompt_cache_retention", "24h");
  expect(isRequested({ model: "ours", messages, ...said }, "prompt_cache_key")).toBe(false);
});
