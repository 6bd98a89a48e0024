import { expect, test } from "vitest";
import { openAiChatFields } from "../../chat-request.ts";
import type { ChatDialect } from "./chat-dialect.ts";
import { chatDialects, dialectNames } from "./chat-dialects.ts";
import { compileDialect } from "./compile-dialect.ts";

const dialects: readonly ChatDialect[] = Object.values(chatDialects);

test("the dialects' words for finish reasons do not contradict each other, or OpenAI", () => {
  const meanings = new Map<string, Set<string>>();
  for (const { answers = {} } of dialects) {
    for (const [word, meaning] of Object.entries(answers.finishReasons ?? {})) {
      meanings.set(word, new Set([...(meanings.get(word) ?? []), meaning]));
    }
  }
  expect([...meanings].filter(([, told]) => told.size > 1)).toEqual([]);
  for (const word of ["stop", "length", "tool_calls", "content_filter"]) expect(meanings.has(word)).toBe(false);
});

test.each(dialectNames)("%s only has rules for fields of OpenAI's API", (name) => {
  expect(Object.keys(chatDialects[name].fields).filter((field) => !openAiChatFields.has(field))).toEqual([]);
});

test("messages that need no change stay the same array, so that their bytes are copied", () => {
  const messages = [{ role: "user", content: "Hi" }];
  for (const dialect of dialects) {
    const body: Record<string, unknown> = { model: "m", messages };
    compileDialect(dialect).write(body, []);
    expect(body.messages).toBe(messages);
  }
});

test("constants are added to the caller's own values, which win", () => {
  const body: Record<string, unknown> = { messages: [], provider: { sort: "price", require_parameters: false } };
  compileDialect(chatDialects.openrouter).write(body, ["provider"]);
  expect(body.provider).toEqual({ sort: "price", require_parameters: false });
});
