import { expect, test } from "vitest";
import { dropAnswer, listTurns, parseRounds, type Round, rankRound, replaceAnswer } from "./comparison.ts";
import type { Answer, Question } from "./conversation.ts";

const ask = (id: string): Question => ({ kind: "question", id, text: id, images: [] });
const say = (model: string, part: Partial<Answer> = {}): Answer => ({
  ...{ kind: "answer", id: model, model, text: "yes", reasoning: "", toolCalls: [], state: "complete", remark: null },
  ...{ bill: { charge: "0.01" }, firstTokenMs: 10, totalMs: 100, ...part },
});

const rounds: Round[] = [
  { question: ask("one"), answers: { a: say("a") } },
  { question: ask("two"), answers: {} },
];

test("each model continues from its own responses; one added later starts without history", () => {
  expect(listTurns(rounds, "two", "a").map(({ id }) => id)).toEqual(["one", "a", "two"]);
  expect(listTurns(rounds, "two", "b").map(({ id }) => id)).toEqual(["two"]);
  expect(listTurns(rounds, "one", "a").map(({ id }) => id)).toEqual(["one"]);
});

test("a response replaces the last one of its model", () => {
  const more = replaceAnswer(rounds, "one", say("b"));
  expect(Object.keys(more[0]?.answers ?? {})).toEqual(["a", "b"]);
  expect(Object.keys(dropAnswer(more, "one", "a")[0]?.answers ?? {})).toEqual(["b"]);
});

test("cheapest and fastest are ranked once all have responded, and only if they differ", () => {
  const round = (...answers: Answer[]): Round => ({
    question: ask("q"),
    answers: Object.fromEntries(answers.map((answer) => [answer.model, answer])),
  });
  const cheap = say("b", { bill: { charge: "0.001" }, totalMs: 300 });
  expect(rankRound(round(say("a"), cheap), ["a", "b"])).toEqual({ cheapest: "b", fastest: "a" });
  expect(rankRound(round(say("a"), say("b")), ["a", "b"])).toEqual({ cheapest: null, fastest: null });
  expect(rankRound(round(say("a"), say("b", { state: "streaming" })), ["a", "b"]).fastest).toBeNull();
  expect(rankRound(round(say("a"), say("b", { bill: null })), ["a", "b"]).cheapest).toBeNull();
});

test("a response interrupted by leaving the page is stopped, or dropped if empty", () => {
  const stored = [
    {
      question: ask("q"),
      answers: { a: say("a", { state: "streaming" }), b: say("b", { state: "streaming", text: "" }) },
    },
  ];
  expect(parseRounds(stored)[0]?.answers).toMatchObject({ a: { state: "stopped" } });
  expect(parseRounds(stored)[0]?.answers.b).toBeUndefined();
  expect(parseRounds("text")).toEqual([]);
});
