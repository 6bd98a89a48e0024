import { describe, expect, test } from "vitest";
import type { ChatMessage, ChatRequest } from "../chat-request.ts";
import { anthropicDialect, genericDialect, googleDialect } from "./dialects.ts";
import { findObstacle, parseToolArguments } from "./find-obstacle.ts";

const dialects = { anthropic: anthropicDialect, google: googleDialect, generic: genericDialect };
type Vendor = keyof typeof dialects;

function find(vendor: Vendor, changes: Partial<ChatRequest>, upstreamModel: string | null = null): string | null {
  const request: ChatRequest = { model: "ours", messages: [{ role: "user", content: "Hi" }], ...changes };
  return findObstacle(request, dialects[vendor], upstreamModel)?.param ?? null;
}

const everyVendor: Vendor[] = ["anthropic", "google", "generic"];

describe("no vendor behind the SDK", () => {
  test.for<[string, unknown]>([
    ["n", 2],
    ["logprobs", true],
    ["top_logprobs", 3],
    ["logit_bias", { "50256": -100 }],
    ["prediction", { type: "content", content: "x" }],
    ["audio", { voice: "alloy", format: "wav" }],
    ["modalities", ["text", "audio"]],
    ["web_search_options", {}],
    ["service_tier", "priority"],
    ["store", true],
    ["verbosity", "low"],
    ["functions", []],
    ["constructor", "x"],
  ])("supports %s as %o", ([field, value]) => {
    for (const vendor of everyVendor) expect(find(vendor, { [field]: value })).toBe(field);
  });
});

test("defaults are no obstacle", () => {
  const neutral = {
    n: 1,
    logprobs: false,
    top_logprobs: 0,
    logit_bias: {},
    modalities: ["text"],
    service_tier: "auto",
    store: false,
    verbosity: "medium" as const,
    frequency_penalty: 0,
    presence_penalty: 0,
    parallel_tool_calls: true,
    temperature: 1,
    top_p: 1,
    seed: null,
    user: "u1",
    metadata: { a: "b" },
    prompt_cache_key: "k",
    stream_options: { include_usage: true },
  };
  for (const vendor of everyVendor) expect(find(vendor, neutral, "claude-opus-5")).toBeNull();
});

test.for<[Partial<ChatRequest>, string, Vendor[]]>([
  [{ seed: 7 }, "seed", ["anthropic"]],
  [{ frequency_penalty: 0.1 }, "frequency_penalty", ["anthropic"]],
  [{ presence_penalty: -1 }, "presence_penalty", ["anthropic"]],
  [{ temperature: 1.5 }, "temperature", ["anthropic"]],
  [{ temperature: 0.5, top_p: 0.5 }, "top_p", ["anthropic"]],
  [{ temperature: 0.5, reasoning_effort: "low" }, "temperature", ["anthropic"]],
  [{ top_p: 0.5, reasoning_effort: "high" }, "top_p", ["anthropic"]],
  [{ response_format: { type: "json_object" } }, "response_format", ["anthropic"]],
  [{ parallel_tool_calls: false }, "parallel_tool_calls", ["google", "generic"]],
  [
    { response_format: { type: "json_schema", json_schema: { name: "x" } } },
    "response_format.json_schema.schema",
    everyVendor,
  ],
  [{ tools: [{ type: "custom", custom: { name: "x" } }] }, "tools[0]", everyVendor],
  [{ tool_choice: { type: "custom", custom: { name: "x" } } }, "tool_choice", everyVendor],
  [
    { tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{}] } } },
    "tool_choice",
    everyVendor,
  ],
])("%o is an obstacle at %s for %o", ([changes, param, vendors]) => {
  for (const vendor of everyVendor)
    expect([vendor, find(vendor, changes)]).toEqual([vendor, vendors.includes(vendor) ? param : null]);
});

describe("in a message", () => {
  const pdf = "data:application/pdf;base64,AAAA";
  const call = (text: string) => ({ id: "c", type: "function" as const, function: { name: "f", arguments: text } });

  test.for<[ChatMessage, string, Vendor[]]>([
    [{ role: "user", content: "Hi", name: "Ann" }, ".name", everyVendor],
    [{ role: "function", name: "f", content: "1" }, "", everyVendor],
    [{ role: "tool", tool_call_id: "unknown", content: "1" }, ".tool_call_id", everyVendor],
    [{ role: "assistant", audio: { id: "a" } }, ".audio", everyVendor],
    [{ role: "assistant", tool_calls: [call("{}"), call("{")] }, ".tool_calls[1].function.arguments", everyVendor],
    [{ role: "assistant", tool_calls: [call("[1]")] }, ".tool_calls[0].function.arguments", everyVendor],
    [
      { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "x", input: "" } }] },
      ".tool_calls[0]",
      everyVendor,
    ],
    [
      { role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } }] },
      ".content[0]",
      ["anthropic"],
    ],
    [
      { role: "user", content: [{ type: "file", file: { file_id: "file_1" } }] },
      ".content[0].file.file_id",
      everyVendor,
    ],
    [
      { role: "user", content: [{ type: "file", file: { file_data: "AAAA" } }] },
      ".content[0].file.file_data",
      everyVendor,
    ],
    [{ role: "user", content: [{ type: "file", file: { file_data: pdf } }] }, "", []],
    [
      { role: "user", content: [{ type: "file", file: { file_data: "data:video/mp4;base64,AAAA" } }] },
      ".content[0].file.file_data",
      ["anthropic"],
    ],
    [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a.example/b" } }] }, "", []],
    [
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "high" } }],
      },
      "",
      [],
    ],
    [
      { role: "user", content: [{ type: "image_url", image_url: { url: "https://a.example/b", detail: "low" } }] },
      ".content[0].image_url.detail",
      everyVendor,
    ],
    [
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png,hello" } }] },
      ".content[0].image_url.url",
      everyVendor,
    ],
    [
      { role: "user", content: [{ type: "image_url", image_url: { url: pdf } }] },
      ".content[0].image_url.url",
      everyVendor,
    ],
  ])("%o is an obstacle at %s for %o", ([message, place, vendors]) => {
    const messages: ChatMessage[] = [{ role: "system", content: "Hi" }, message];
    for (const vendor of everyVendor) {
      expect([vendor, find(vendor, { messages })]).toEqual([
        vendor,
        vendors.includes(vendor) ? `messages[1]${place}` : null,
      ]);
    }
  });

  test("the number of images is limited", () => {
    const image = { type: "image_url" as const, image_url: { url: "https://a.example/b" } };
    const messages = [1, 2].map(() => ({ role: "user" as const, content: Array.from({ length: 32 }, () => image) }));
    expect(find("google", { messages })).toBeNull();
    expect(find("google", { messages: [...messages, { role: "user", content: [image] }] })).toBe("messages[2]");
  });

  test("a tool without arguments may have none", () => {
    expect([parseToolArguments(""), parseToolArguments(" "), parseToolArguments("null")]).toEqual([{}, {}, null]);
  });
});

describe("some models support less than others", () => {
  test.for<[Vendor, string, Partial<ChatRequest>, string | null]>([
    ["anthropic", "claude-3-haiku-20240307", { temperature: 0.5 }, null],
    ["anthropic", "claude-sonnet-4-5-20250929", { temperature: 0.5 }, null],
    ["anthropic", "claude-opus-4-20250514", { top_p: 0.5 }, null],
    ["anthropic", "claude-opus-4-6", { temperature: 0.5 }, null],
    ["anthropic", "claude-opus-4-7", { temperature: 0.5 }, "temperature"],
    ["anthropic", "claude-sonnet-5", { top_p: 0.5 }, "top_p"],
    ["anthropic", "claude-newest", { top_p: 0.5 }, "top_p"],
    ["anthropic", "minimax-m2", { temperature: 0.5 }, null],
    ["google", "gemini-2.5-flash", { presence_penalty: 0.5 }, "presence_penalty"],
    ["google", "gemini-3-flash", { presence_penalty: 0.5 }, null],
  ])("%s, %s, %o: %s", ([vendor, upstreamModel, changes, param]) => {
    expect(find(vendor, changes, upstreamModel)).toBe(param);
    // Without the model's name it is not known yet.
    expect(find(vendor, changes)).toBeNull();
  });
});
