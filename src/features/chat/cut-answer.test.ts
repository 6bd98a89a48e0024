import { expect, test } from "vitest";
import { cutAnswer } from "./cut-answer.ts";

const usage = null;

test("the start of the text is kept, and the finish reason is the cap", () => {
  const choices = [
    {
      index: 0,
      message: {
        role: "assistant",
        reasoning_content: "Hmm.",
        content: "Forty-two is the answer.",
        tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"it"}' } }],
      },
      finish_reason: "stop",
      logprobs: null,
    },
  ];
  const cut = cutAnswer({ choices: JSON.stringify(choices), text: "", usage }, 13);
  expect(JSON.parse(cut.choices)).toEqual([
    {
      index: 0,
      message: {
        role: "assistant",
        reasoning_content: "Hmm.",
        content: "Forty-two",
        tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "" } }],
      },
      finish_reason: "length",
      logprobs: null,
    },
  ]);
});

test("a native answer is cut in its own format", () => {
  const messages = {
    id: "msg_1",
    role: "assistant",
    content: [{ type: "text", text: "Forty-two" }],
    stop_reason: "end_turn",
  };
  expect(cutAnswer({ choices: "[]", text: "", usage, nativeBody: messages }, 5).nativeBody).toEqual({
    ...messages,
    ...{ content: [{ type: "text", text: "Forty" }], stop_reason: "max_tokens", stop_sequence: null },
  });
  const output = [{ type: "message", id: "msg_1", content: [{ type: "output_text", text: "Forty-two" }] }];
  expect(
    cutAnswer({ choices: "[]", text: "", usage, nativeBody: { status: "completed", output } }, 5).nativeBody,
  ).toEqual({
    ...{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    output: [{ type: "message", id: "msg_1", content: [{ type: "output_text", text: "Forty" }] }],
  });
});
