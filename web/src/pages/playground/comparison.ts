import { type Answer, hasCome, type Question, type Turn } from "./conversation.ts";

export const comparedMax = 4;
const roundsMax = 50;
const differenceMin = 0.95;

/** One question, and what each model answered, by the model's id. */
export type Round = { question: Question; answers: Record<string, Answer> };

/** What a model has heard and said up to a round, its question included. */
export function listTurns(rounds: readonly Round[], roundId: string, model: string): Turn[] {
  const last = rounds.findIndex(({ question }) => question.id === roundId);
  return rounds.slice(0, last + 1).flatMap(({ question, answers }): Turn[] => {
    const answer = answers[model];
    if (question.id === roundId) return [question];
    // A model that was not there yet, or said nothing, was not asked either.
    return answer === undefined || !hasCome(answer) ? [] : [question, answer];
  });
}

export function replaceAnswer(rounds: readonly Round[], roundId: string, answer: Answer): Round[] {
  return rounds.map((round) =>
    round.question.id === roundId ? { ...round, answers: { ...round.answers, [answer.model]: answer } } : round,
  );
}

export function dropAnswer(rounds: readonly Round[], roundId: string, model: string): Round[] {
  return rounds.map((round) => {
    if (round.question.id !== roundId) return round;
    const { [model]: _, ...answers } = round.answers;
    return { ...round, answers };
  });
}

/** Which models stand out among those that have answered; nothing while one is on its way, or where all are equal. */
export function rankRound(
  { answers }: Round,
  models: readonly string[],
): { cheapest: string | null; fastest: string | null } {
  const done = models.flatMap((model) => answers[model] ?? []);
  if (done.length < 2 || done.some(({ state }) => state !== "complete")) return { cheapest: null, fastest: null };
  return {
    cheapest: findLeast(done, ({ bill }) => Number(bill?.charge ?? Number.NaN)),
    fastest: findLeast(done, ({ totalMs }) => totalMs ?? Number.NaN),
  };
}

function findLeast(answers: readonly Answer[], measure: (answer: Answer) => number): string | null {
  const sorted = answers.toSorted((a, b) => measure(a) - measure(b));
  const [first, second] = sorted;
  if (first === undefined || second === undefined) return null;
  // What cannot be measured is not less than anything, and a hair's breadth is no difference.
  return measure(first) < measure(second) * differenceMin ? first.model : null;
}

/** A comparison from the browser's storage. Nobody waits any longer for an answer that was on its way. */
export function parseRounds(stored: unknown): Round[] {
  if (!Array.isArray(stored)) return [];
  // Only this page writes it.
  return (stored as Round[]).slice(-roundsMax).map(({ question, answers }) => ({
    question,
    answers: Object.fromEntries(
      Object.entries(answers)
        .filter(([, answer]) => answer.state !== "streaming" || hasCome(answer))
        .map(([model, answer]) => [
          model,
          answer.state === "streaming"
            ? { ...answer, state: "stopped" as const, remark: "The page was left before the answer had ended." }
            : answer,
        ]),
    ),
  }));
}
