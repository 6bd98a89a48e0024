import type { Clock } from "../../../lib/clock.ts";

/**
 * Asks once for all who come within a while, so that a page that everybody may open costs next to nothing. What failed
 * is not remembered.
 */
export function remember<T>(clock: Clock, forMs: number, ask: () => Promise<T>): () => Promise<T> {
  let known: { answer: Promise<T>; untilMs: number } | null = null;
  return () => {
    if (known !== null && clock.monotonicMs() < known.untilMs) return known.answer;
    const asked = { answer: ask(), untilMs: clock.monotonicMs() + forMs };
    known = asked;
    asked.answer.catch(() => {
      if (known === asked) known = null;
    });
    return asked.answer;
  };
}
