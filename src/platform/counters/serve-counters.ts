import type { Duplex } from "node:stream";
import type { AnswerFrame, CounterQuestion, QuestionFrame } from "./counter-question.ts";
import type { CounterDecision, Counters } from "./counters.ts";
import { readJsonLines, writeJsonLine } from "./json-lines.ts";

type Lease = { key: string; leaseId: string };

/** Leases beyond run out by themselves. */
const heldMax = 100_000;

/**
 * Answers what one process asks the counters that it shares with others. The end of the stream is the end of the process:
 * what it held is released, so that nobody is locked out by the calls of the dead.
 */
export function serveCounters(counters: Counters, stream: Duplex): void {
  const held = new Map<string, Lease>();

  function keepBooks(question: CounterQuestion, decision: CounterDecision | null): void {
    if (question[0] === "take" && decision?.isAllowed === true) {
      for (const { key, leaseId } of question[1].leases)
        if (held.size < heldMax) held.set(`${key} ${leaseId}`, { key, leaseId });
    }
    if (question[0] === "release") for (const { key, leaseId } of question[1]) held.delete(`${key} ${leaseId}`);
  }

  async function answer(question: CounterQuestion): Promise<CounterDecision | null> {
    const decision = await ask(counters, question);
    keepBooks(question, decision);
    return decision;
  }

  // A process that dies takes its end with it, which is noticed elsewhere.
  stream.on("error", () => {});
  stream.on("close", () => void counters.release([...held.values()]));
  readJsonLines(stream, (value) => {
    const [number, questions] = value as QuestionFrame;
    const told = Promise.all(questions.map(answer)).then((answers) => {
      const frame: AnswerFrame = [number, answers];
      writeJsonLine(stream, frame);
    });
    // A process whose sources are newer than the supervisor may ask otherwise: it gets no answer, and counts alone.
    told.catch(() => {});
  });
}

async function ask(counters: Counters, question: CounterQuestion): Promise<CounterDecision | null> {
  if (question[0] === "take") return await counters.take(question[1]);
  if (question[0] === "correct") await counters.correct(question[1]);
  else if (question[0] === "renew") await counters.renew(question[1]);
  else await counters.release(question[1]);
  return null;
}
