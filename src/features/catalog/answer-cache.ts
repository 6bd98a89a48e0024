import { type Audience, type CatalogView, findTurningPoint } from "./catalog-view.ts";

const answersMax = 1000;

/**
 * Caches catalog responses as the bytes to send. Most accounts get the same ones, and they change only with a new
 * catalog version or at a time the catalog names.
 */
export function createAnswerCache() {
  let view: CatalogView | null = null;
  let answers = new Map<string, { bytes: Buffer; untilMs: number }>();

  return {
    get(current: CatalogView, question: string, now: Date, compute: () => object): Buffer {
      if (view !== current) {
        view = current;
        answers = new Map();
      }
      const known = answers.get(question);
      if (known !== undefined && now.getTime() < known.untilMs) return known.bytes;
      const bytes = Buffer.from(JSON.stringify(compute()));
      const untilMs = findTurningPoint(current, now.getTime());
      if (answers.size >= answersMax) answers.clear();
      answers.set(question, { bytes, untilMs });
      return bytes;
    },
  };
}

/** Callers with the same key get the same responses. */
export function describeAudience(
  { accountsWithPrices }: CatalogView,
  { accountId, planId, modelIds }: Audience,
): string {
  const own = accountsWithPrices.has(accountId) ? accountId : "";
  return `${own} ${planId ?? ""} ${modelIds === null ? "" : [...modelIds].join(",")}`;
}
