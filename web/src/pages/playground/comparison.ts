import { type Answer, hasCome, type Question, type Turn } from "./conversation.ts";

export const comparedMax = 4;
const roundsMax = 50;
const differenceMin = 0.95;

/** One prompt and each model's response, by model id. */
export type Round = { question: Question; answers: Record<string, Answer> };

/** A model's own history up to a round, including its prompt. */
export function listTurns(rounds: readonly Round[], roundId: string, model: string): Turn[] {
  const last = rounds.findIndex(({ question }) => question.id === roundId);
  return rounds.slice(0, last + 1).flatMap(({ question, answers }): Turn[] => {
    const answer = answers[model];
    if (question.id === roundId) return [question];
    // Skip rounds without a response of this model: it was added later, or failed.
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

/** The cheapest and fastest response; null while one is streaming, or if all are equal. */
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
  // Ignore missing values and negligible differences.
  return measure(first) < measure(second) * differenceMin ? first.model : null;
}

/** Restores a comparison. Responses that were streaming are marked as stopped. */
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
            ? { ...answer, state: "stopped" as const, remark: "You left the page before the response was complete." }
            : answer,
        ]),
    ),
  }));
}
