import type { CounterDecision, Counters } from "./counters.ts";

/** One operation of the counters, as it goes from a process to the supervisor. */
export type CounterQuestion =
  | ["take", Parameters<Counters["take"]>[0]]
  | ["correct", Parameters<Counters["correct"]>[0]]
  | ["renew", Parameters<Counters["renew"]>[0]]
  | ["release", Parameters<Counters["release"]>[0]];

/** All that is asked at one time, under a number by which its answer is known. */
export type QuestionFrame = [number: number, questions: readonly CounterQuestion[]];

/** In the order of the questions; only `take` is answered with something. */
export type AnswerFrame = [number: number, answers: readonly (CounterDecision | null)[]];
