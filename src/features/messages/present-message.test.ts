import { expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import type { ChatAnswer, ChatPiece } from "../../providers/contract.ts";
import { MessagePresenter } from "./present-message.ts";
import { unsignedThinkingMark } from "./thinking-mark.ts";

const envelope = { id: "msg_1", model: "m" };
const usage = {
  ...{ inputTokens: 10, outputTokens: 5, cachedInputTokens: 3, cacheWriteTokens: 2, reasoningTokens: 1 },
  cacheWrite1hTokens: 0,
  ...{ inputAudioTokens: 0, outputAudioTokens: 0, isCounted: false },
};

function end(answer: ChatAnswer | null = null, stoppedBy: "insufficient_balance" | null = null) {
  return {
    ...{ answer, usage, stoppedBy, failure: null, hasHungUp: false },
    settlement: { charge: nano(1_000_000n), lost: nano(0n) },
  };
}

function open(isStreamed = true): MessagePresenter {
  return new MessagePresenter(envelope, { isStreamed });
}

const piece = (delta: object, finish_reason: string | null = null): ChatPiece => ({
  choices: JSON.stringify([{ index: 0, delta, finish_reason }]),
  text: "",
});
const call = (index: number, written: string, id?: string) => ({
  index,
  ...(id === undefined ? {} : { id, type: "function" }),
  function: { ...(id === undefined ? {} : { name: `tool_${id}` }), arguments: written },
});

/** Events in short form. */
function listEvents(text: string): string[] {
  return [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, name, data = ""]) => {
    const { index = "", delta = {} } = JSON.parse(data);
    const said = delta.text ?? delta.thinking ?? delta.partial_json ?? delta.signature ?? delta.stop_reason ?? "";
    return [name?.replace("content_block_", ""), index, said].join(" ").trim();
  });
}

test("JSON-escaped text is forwarded unchanged", () => {
  const presenter = open();
  const events = presenter.presentPieces([
    { choices: "", text: "Hm\\n", soleField: "reasoning_content", isUnfinished: true },
    { choices: "", text: 'say \\"hi\\"', soleField: "content", isUnfinished: true },
    piece({ content: ' "again"\n' }),
    piece({}, "stop"),
  ]);
  expect(listEvents(events + presenter.presentTail(end()))).toEqual([
    ...["message_start", "ping", "start 0", "delta 0 Hm", `delta 0 ${unsignedThinkingMark}`, "stop 0"],
    ...["start 1", 'delta 1 say "hi"', 'delta 1  "again"', "stop 1", "message_delta  end_turn", "message_stop"],
  ]);
});

test("interleaved tool calls keep their blocks", () => {
  const presenter = open();
  const events = presenter.presentPieces([
    piece({ tool_calls: [call(0, '{"a":', "x")] }),
    piece({ tool_calls: [call(1, "{}", "y")] }),
    piece({ tool_calls: [call(0, "1}")] }),
    piece({ tool_calls: [call(2, "", "z")] }),
    piece({}, "tool_calls"),
  ]);
  expect(listEvents(events + presenter.presentTail(end())).slice(2)).toEqual([
    ...["start 0", 'delta 0 {"a":', "start 1", "delta 1 {}", "delta 0 1}", "stop 1", "start 2"],
    ...["stop 0", "stop 2", "message_delta  tool_use", "message_stop"],
  ]);
});

test("a non-streaming answer has its blocks in order; arguments that are not JSON are passed on", () => {
  const message = {
    content: "Well.",
    reasoning_content: "Hm",
    tool_calls: [call(0, '{"a":1}', "x"), call(1, "{a", "y"), call(2, "", "z")],
  };
  const choices = JSON.stringify([{ index: 0, message, finish_reason: "stop" }]);
  const whole = JSON.parse(open(false).presentWhole(end({ choices, text: "", usage })));
  expect(whole).toMatchObject({ id: "msg_1", model: "m", stop_reason: "tool_use", stop_details: null });
  expect(whole.content.map((block: Record<string, unknown>) => block.thinking ?? block.text ?? block.input)).toEqual([
    ...["Hm", "Well.", { a: 1 }, "{a", {}],
  ]);
  expect(whole.usage).toMatchObject({
    ...{ input_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2, output_tokens: 5 },
    ...{ output_tokens_details: { thinking_tokens: 1 }, charge: "0.001" },
  });
});

test("a refusal is a refusal", () => {
  const choices = JSON.stringify([{ index: 0, message: { content: null, refusal: "No." }, finish_reason: "stop" }]);
  expect(JSON.parse(open(false).presentWhole(end({ choices, text: "", usage })))).toMatchObject({
    content: [{ type: "text", text: "No." }],
    stop_reason: "refusal",
    stop_details: { type: "refusal" },
  });
});

test("an answer that runs out of balance ends as if at the cap, and says why", () => {
  const presenter = open();
  const events = presenter.presentPieces([piece({ content: "One" })]) + presenter.presentCut();
  const tail = presenter.presentTail(end(null, "insufficient_balance"));
  expect(listEvents(events + tail).slice(3)).toEqual([
    "delta 0 One",
    "stop 0",
    "message_delta  max_tokens",
    "message_stop",
  ]);
  expect(tail).toContain('"stopped_by":"insufficient_balance"');
});

const nativeStart = 'event: content_block_start\ndata: {"type":"content_block_start","index":4,"content_block":{}}\n\n';

test("a vendor's own events are forwarded; the last is ours, with the charge", () => {
  const presenter = open();
  const pieces = [{ choices: "[]", text: "", nativeEvents: nativeStart }];
  expect(presenter.presentPieces(pieces)).toBe(nativeStart);
  expect(presenter.presentTail(end())).toBe(
    'event: message_stop\ndata: {"type":"message_stop","usage":{"charge":"0.001"}}\n\n',
  );
});

test("a vendor's own events are ended when the balance runs out", () => {
  const presenter = open();
  presenter.presentPieces([{ choices: "[]", text: "", nativeEvents: nativeStart }]);
  const last = presenter.presentCut() + presenter.presentTail(end(null, "insufficient_balance"));
  expect(listEvents(last)).toEqual(["stop 4", "message_delta  max_tokens", "message_stop"]);
});

test("a vendor's own answer is forwarded, with the charged usage", () => {
  const nativeBody = {
    id: "msg_1",
    type: "message",
    content: [{ type: "server_tool_use" }],
    stop_reason: "pause_turn",
  };
  const whole = JSON.parse(open(false).presentWhole(end({ choices: "[]", text: "", usage, nativeBody })));
  expect(whole).toMatchObject({ ...nativeBody, usage: { output_tokens: 5, charge: "0.001" } });
});
