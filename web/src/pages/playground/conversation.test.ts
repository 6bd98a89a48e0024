import { expect, test } from "vitest";
import { type Answer, dropLastAnswer, listMessages, listOpenCalls, parseTurns, type Turn } from "./conversation.ts";

const question: Turn = { kind: "question", id: "1", text: "Weather?", images: [] };
const answer: Answer = {
  kind: "answer",
  id: "2",
  model: "some-model",
  text: "",
  reasoning: "",
  toolCalls: [{ id: "call_1", name: "get_weather", argumentsText: '{"city":"Oslo"}' }],
  state: "complete",
  remark: null,
  bill: null,
  firstTokenMs: 5,
  totalMs: 9,
};
const result: Turn = { kind: "tool-result", id: "3", callId: "call_1", name: "get_weather", text: "Rain" };

test("a conversation with a tool becomes API messages", () => {
  expect(listMessages("Be brief.", [question, answer, result])).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Weather?" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ type: "function", id: "call_1", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "Rain" },
  ]);
});

test("images accompany the text, and may stand alone", () => {
  const images = [{ name: "a.png", url: "data:image/png;base64,AA==" }];
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
  expect(listMessages(" ", [{ ...question, images }])).toEqual([
    { role: "user", content: [{ type: "text", text: "Weather?" }, image] },
  ]);
  expect(listMessages("", [{ ...question, text: "", images }])).toEqual([{ role: "user", content: [image] }]);
});

test("an empty response is not sent back", () => {
  expect(listMessages("", [question, { ...answer, toolCalls: [] }])).toHaveLength(1);
});

test("regenerating keeps everything up to the last question", () => {
  expect(dropLastAnswer([question, answer, result, answer])).toEqual([question, answer, result]);
  expect(dropLastAnswer([question])).toEqual([question]);
});

test("only tool calls of a complete last response wait for results", () => {
  expect(listOpenCalls([question, answer])).toHaveLength(1);
  expect(listOpenCalls([question, { ...answer, state: "stopped" }])).toEqual([]);
  expect(listOpenCalls([question, answer, result])).toEqual([]);
});

test("a response interrupted by leaving the page is stopped", () => {
  const [kept] = parseTurns([{ ...answer, text: "Half", state: "streaming" }]);
  expect(kept).toMatchObject({ text: "Half", state: "stopped" });
  expect(parseTurns([question, { ...answer, toolCalls: [], state: "streaming" }])).toEqual([question]);
});

test.each([null, "text", [{ kind: "strange", text: "" }], [null, 3]])(
  "%j in storage is not a conversation",
  (value) => {
    expect(parseTurns(value)).toEqual([]);
  },
);
