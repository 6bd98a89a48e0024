import type { Duplex } from "node:stream";
import { createCoalescer } from "../../lib/coalescer.ts";
import { invariant } from "../../lib/invariant.ts";
import type { AnswerFrame, CounterQuestion, QuestionFrame } from "./counter-question.ts";
import type { CounterDecision, Counters } from "./counters.ts";
import { readJsonLines, writeJsonLine } from "./json-lines.ts";

type RemoteCountersOptions = {
  /** To the process that counts (`serveCounters`). */
  stream: Duplex;
  /** How long one batch of questions is waited for. */
  timeoutMs?: number;
};

const timeoutMsUsual = 1000;
const questionsAtOnceMax = 1000;
const waitingMax = 100_000;

type Answers = AnswerFrame[1];

/**
 * The counters of another process on this machine. One batch of questions is under way, and what comes up meanwhile is the
 * next, so that a busy process asks once a turn and not once a call. Throws where there is no answer in time.
 */
export function createRemoteCounters({ stream, timeoutMs = timeoutMsUsual }: RemoteCountersOptions): Counters {
  let lastNumber = 0;
  let waiting: { number: number; resolve(answers: Answers): void; reject(error: Error): void } | null = null;

  function lose(): void {
    waiting?.reject(new Error("The process that counts is gone."));
  }

  readJsonLines(stream, (value) => {
    const [number, answers] = value as AnswerFrame;
    // An answer that comes too late belongs to a batch that nobody waits for any more.
    if (number === waiting?.number) waiting.resolve(answers);
  });
  stream.on("error", lose).on("close", lose);

  function ask(questions: readonly CounterQuestion[]): Promise<Answers> {
    const { promise, resolve, reject } = Promise.withResolvers<Answers>();
    lastNumber += 1;
    const number = lastNumber;
    waiting = { number, resolve, reject };
    // When this process itself stood still, the answer may be here but not read yet: one more turn of the loop reads it.
    const timer = setTimeout(
      () => setImmediate(() => reject(new Error(`There was no answer within ${timeoutMs} ms.`))),
      timeoutMs,
    );
    if (stream.destroyed) lose();
    const frame: QuestionFrame = [number, questions];
    writeJsonLine(stream, frame);
    return promise.finally(() => clearTimeout(timer));
  }

  const questions = createCoalescer<CounterQuestion, CounterDecision | null>({
    run: ask,
    batchMax: questionsAtOnceMax,
    waitingMax,
  });

  return {
    async take(checks) {
      const decision = await questions.submit(["take", checks]);
      invariant(decision !== null, "what is taken is answered with a decision");
      return decision;
    },
    correct: async (rate) => void (await questions.submit(["correct", rate])),
    renew: async (lease) => void (await questions.submit(["renew", lease])),
    release: async (leases) => void (await questions.submit(["release", leases])),
    async close() {
      await questions.close();
      stream.destroy();
    },
  };
}
