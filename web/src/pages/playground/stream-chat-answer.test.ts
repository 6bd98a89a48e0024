import { expect, test } from "vitest";
import { type AnswerSoFar, addPiece, emptyAnswer } from "./stream-chat-answer.ts";

const usage = { prompt_tokens: 9, completion_tokens: 4, charge: "0.000004" };

function add(...pieces: Parameters<typeof addPiece>[1][]): AnswerSoFar {
  return pieces.reduce(addPiece, emptyAnswer);
}

test("chunks of text, reasoning and usage become one response", () => {
  const answer = add(
    { choices: [{ delta: { reasoning_content: "Hm." } }] },
    { choices: [{ delta: { content: "Hel" } }] },
    { choices: [{ delta: { content: "lo" }, finish_reason: "stop" }], usage: null },
    { choices: [], usage },
  );
  expect(answer).toMatchObject({ text: "Hello", reasoning: "Hm.", finishReason: "stop", isOutOfMoney: false });
  expect(answer.bill).toEqual({ inputTokens: 9, outputTokens: 4, charge: "0.000004" });
});

test("interleaved chunks of two tool calls are kept apart", () => {
  const call = (index: number, id: string | undefined, name: string | undefined, text: string) => ({
    choices: [
      {
        delta: {
          tool_calls: [
            { index, ...(id === undefined ? {} : { id }), function: { ...(name && { name }), arguments: text } },
          ],
        },
      },
    ],
  });
  const answer = add(
    call(0, "a", "first", '{"x"'),
    call(1, "b", "second", "{"),
    call(0, undefined, undefined, ":1}"),
    call(1, undefined, undefined, "}"),
  );
  expect(answer.toolCalls).toEqual([
    { id: "a", name: "first", argumentsText: '{"x":1}' },
    { id: "b", name: "second", argumentsText: "{}" },
  ]);
});

test("an unstreamed response is read like its chunks", () => {
  expect(add({ choices: [{ message: { content: "Hi" }, finish_reason: "stop" }], usage })).toMatchObject({
    text: "Hi",
    bill: { charge: "0.000004" },
  });
});

test("an exhausted balance is remembered until the end", () => {
  expect(add({ stopped_by: "insufficient_balance" }, { choices: [], usage }).isOutOfMoney).toBe(true);
});
