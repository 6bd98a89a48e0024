import { expect, test } from "vitest";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { Model } from "../catalog/index.ts";
import { checkChatFields, checkChatRequest } from "./check-chat-request.ts";
import { dropEmptyFields } from "./drop-empty-fields.ts";

const route = { provider: "main", upstream_model: "talk-1", priority: 0, weight: 1 };
const talk: Model = {
  ...{ id: "talk", name: "Talk", type: "chat", logo: "", description: "", advantages: [], scenarios: [] },
  capabilities: ["chat", "streaming", "tools", "vision", "json_schema", "reasoning"],
  ...{ limits: {}, created_at: "2026-01-01T00:00:00Z", routes: [{ ...route, passthrough: ["top_k"] }] },
};
const size = { tokensMax: 10, tokensLikely: 5, characters: 5, isText: true };

function findError(fields: Partial<ChatRequest>, model: Model = talk): AppError | null {
  const request: ChatRequest = { model: "talk", messages: [{ role: "user", content: "Hello" }], ...fields };
  try {
    const seen = checkChatFields(request, model);
    dropEmptyFields(request, model, seen);
    checkChatRequest(request, model, size);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** The error's code and field; `null` if the request is valid. */
function check(fields: Partial<ChatRequest>, model: Model = talk): [string, string | null] | null {
  const error = findError(fields, model);
  return error && [error.code, error.param];
}

/** Nested objects, `levels` deep. */
function nest(levels: number): Record<string, unknown> {
  let inner: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) inner = { inner };
  return inner;
}

const askForImage = (url: string): Partial<ChatRequest> => ({
  messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
});

test("64 levels are accepted, 65 are rejected", () => {
  for (const field of ["prediction", "web_search_options", "audio"]) {
    const generous: Model = { ...talk, extra_parameters: ["prediction", "web_search_options", "audio"] };
    expect(check({ [field]: nest(64) }, generous), field).toBeNull();
    expect(check({ [field]: nest(65) }, generous), field).toEqual(["invalid_parameter", field]);
  }
  for (const field of ["moderation", "prompt_cache_options", "top_k"]) {
    expect(check({ [field]: nest(64) }), field).toBeNull();
    expect(check({ [field]: nest(65) }), field).toEqual(["invalid_parameter", field]);
  }
});

test("a tool, its list and its body count as levels", () => {
  const tools = (levels: number): Partial<ChatRequest> => ({
    tools: [{ type: "function", function: { name: "add", parameters: nest(levels) } }],
  });
  expect(check(tools(61))).toBeNull();
  expect(check(tools(62))).toEqual(["invalid_parameter", "tools"]);
});

test("width does not count as depth", () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, {}]));
  expect(check({ moderation: wide })).toBeNull();
  expect(check({ moderation: { ...wide, last: nest(64) } })).toEqual(["invalid_parameter", "moderation"]);
});

test("an image of megabytes is checked by its start, with or without line breaks", () => {
  const letters = "iVBORw0KGgo".repeat(500_000);
  expect(check(askForImage(`data:image/png;base64,${letters}`))).toBeNull();
  expect(check(askForImage(`data:image/jpeg;base64,${"A".repeat(76)}\r\n${letters}`))).toBeNull();
  const wrong = ["invalid_url", "messages[0].content[0].image_url.url"];
  expect(check(askForImage(`data:image/bmp;base64,${letters}`))).toEqual(wrong);
  expect(check(askForImage(`data:image/png;base64,!${letters}`))).toEqual(wrong);
});

test("the message about a URL does not quote it", () => {
  const secret = "token-4711";
  for (const url of [`http://example.com/${secret}`, `https://user:${secret}@example.com`, `data:text/${secret}`]) {
    const message = findError(askForImage(url))?.message;
    expect(message).toMatch(/./);
    expect(message).not.toContain(secret);
  }
});

test("capabilities are checked before images and lengths", () => {
  const blind: Model = { ...talk, capabilities: ["chat"], limits: { max_prompt_length: 1 } };
  expect(check(askForImage("https://127.0.0.1/"), blind)).toEqual(["unsupported_capability", "messages[0].content[0]"]);
  expect(check({}, blind)).toEqual(["context_length_exceeded", "messages"]);
});

test("max_completion_tokens wins over max_tokens", () => {
  const short: Model = { ...talk, limits: { max_output_tokens: 5 } };
  expect(check({ max_tokens: 6 }, short)).toEqual(["invalid_parameter", "max_tokens"]);
  expect(check({ max_tokens: 6, max_completion_tokens: 6 }, short)).toEqual([
    "invalid_parameter",
    "max_completion_tokens",
  ]);
  expect(check({ max_tokens: null, max_completion_tokens: 5 }, short)).toBeNull();
});
