import { expect, test } from "vitest";
import type { ChatSink } from "../contract.ts";
import { createBadAnswer, createOutlet } from "./outlet.ts";

const piece = { choices: "[]", text: "" };

function open() {
  const heard: string[] = [];
  const sink: ChatSink = {
    onAccepted: () => heard.push("accepted"),
    onPieces: (pieces) => heard.push(`${pieces.length} pieces`),
    onEnd: () => heard.push("end"),
    onAnswer: () => heard.push("answer"),
    onError: () => heard.push("error"),
  };
  return { outlet: createOutlet({ sink, onOver: (rest) => heard.push(rest) }), heard };
}

/** A socket read is over when the next tick begins. */
function untilRead(): Promise<void> {
  return new Promise((over) => process.nextTick(over));
}

test("pieces of one read leave together, and before the end", async () => {
  const { outlet, heard } = open();
  outlet.push(piece);
  outlet.push(piece);
  expect(heard).toEqual([]);
  await untilRead();
  outlet.push(piece);
  outlet.end(null);
  await untilRead();
  expect(heard).toEqual(["2 pieces", "1 pieces", "drained", "end"]);
});

test("nothing follows the end, whether it succeeded or failed", async () => {
  for (const isGood of [true, false]) {
    const { outlet, heard } = open();
    if (isGood) outlet.answer({ choices: "[]", text: "", usage: null }, "cut-off");
    else outlet.fail(createBadAnswer("x"));
    outlet.push(piece);
    outlet.end(null);
    outlet.fail(createBadAnswer("x"));
    outlet.answer({ choices: "[]", text: "", usage: null });
    await untilRead();
    expect(heard).toEqual(["cut-off", isGood ? "answer" : "error"]);
    expect(outlet.isOpen()).toBe(false);
  }
});

test("a caller who stops gets nothing more, not even pending pieces", async () => {
  const { outlet, heard } = open();
  outlet.push(piece);
  outlet.shut();
  outlet.end(null);
  await untilRead();
  expect(heard).toEqual([]);
});
