import type { Duplex } from "node:stream";
import type { AnswerFrame, CounterQuestion, QuestionFrame } from "./counter-question.ts";
import type { CounterDecision, Counters } from "./counters.ts";
import { readJsonLines, writeJsonLine } from "./json-lines.ts";

/** Answers what one process asks the counters that it shares with others. The end of the stream ends it. */
export function serveCounters(counters: Counters, stream: Duplex): void {
  // A process that dies takes its end with it, which is noticed elsewhere.
  stream.on("error", () => {});
  readJsonLines(stream, (value) => {
    // Both ends are of one version: a supervisor's processes are started from the same files, and asked no other way.
    const [number, questions] = value as QuestionFrame;
    void Promise.all(questions.map((question) => answer(counters, question))).then((answers) => {
      const frame: AnswerFrame = [number, answers];
      writeJsonLine(stream, frame);
    });
  });
}

async function answer(counters: Counters, question: CounterQuestion): Promise<CounterDecision | null> {
  if (question[0] === "take") return await counters.take(question[1]);
  if (question[0] === "correct") await counters.correct(question[1]);
  else if (question[0] === "renew") await counters.renew(question[1]);
  else await counters.release(question[1]);
  return null;
}
