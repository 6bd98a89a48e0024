import { type Factor, noFactor, parseFactor, presentFactor } from "./factor.ts";

/** How many units of a plan's text quota a token takes: by its model and by its kind. Without a weight, one. */
export type QuotaWeights = {
  models: ReadonlyMap<string, Factor>;
  kinds: Readonly<Partial<Record<WeighedKind, Factor>>>;
};

/** Input that a cache served, and output. Other input always counts once. */
export const weighedKinds = ["cached", "output"] as const;
type WeighedKind = (typeof weighedKinds)[number];

/** The models without a weight of their own. */
const otherModels = "*";

type TokensByKind = { input: number | bigint } & Record<WeighedKind, number | bigint>;

/** The units of a quota, rounded up once. */
export function weighTokens(
  { models, kinds: { cached = noFactor, output = noFactor } }: QuotaWeights,
  modelId: string,
  tokens: TokensByKind,
): bigint {
  const model = findModelWeight(models, modelId);
  const per = cached.denominator * output.denominator * model.denominator;
  const total =
    BigInt(tokens.input) * cached.denominator * output.denominator +
    BigInt(tokens.cached) * cached.numerator * output.denominator +
    BigInt(tokens.output) * output.numerator * cached.denominator;
  return (total * model.numerator + per - 1n) / per;
}

/** The most units of a call: any input may be what weighs most. */
export function boundWeight(
  weights: QuotaWeights,
  modelId: string,
  { input, output }: { input: number; output: number },
): bigint {
  const { cached = noFactor } = weights.kinds;
  const isCachedHeavier = cached.numerator > cached.denominator;
  const bound = isCachedHeavier ? { input: 0, cached: input, output } : { input, cached: 0, output };
  return weighTokens(weights, modelId, bound);
}

export function findModelWeight(models: QuotaWeights["models"], modelId: string): Factor {
  return models.get(modelId) ?? models.get(otherModels) ?? noFactor;
}

/** Weighs a bill by its items, if they are tokens; else its units as input. */
export function weighItems(
  weights: QuotaWeights,
  modelId: string,
  { items, quotaUnits }: { items: readonly { name: string; quantity: bigint }[]; quotaUnits: bigint },
): bigint {
  const tokens = { input: 0n, cached: 0n, output: 0n };
  let hasTokens = false;
  for (const { name, quantity } of items) {
    if (!name.endsWith("_tokens")) continue;
    hasTokens = true;
    if (name.includes("output") || name.startsWith("reasoning")) tokens.output += quantity;
    else if (name === "cached_input_tokens") tokens.cached += quantity;
    else tokens.input += quantity;
  }
  return weighTokens(weights, modelId, hasTokens ? tokens : { ...tokens, input: quotaUnits });
}

/** As stored: decimals by name. */
export type WrittenWeights = { models: Record<string, string>; kinds: Record<string, string> };

/** `null` if a weight is not a decimal above 0 and below 1000 with at most four places. */
export function readQuotaWeights({ models, kinds }: WrittenWeights): QuotaWeights | null {
  const read = (entries: Record<string, string>): [string, Factor][] | null => {
    const factors = Object.entries(entries).map(([name, text]): [string, Factor | null] => [name, parseFactor(text)]);
    return factors.every((pair): pair is [string, Factor] => (pair[1]?.numerator ?? 0n) > 0n) ? factors : null;
  };
  const [ofModels, ofKinds] = [read(models), read(kinds)];
  if (ofModels === null || ofKinds === null) return null;
  return { models: new Map(ofModels), kinds: Object.fromEntries(ofKinds) };
}

export function writeQuotaWeights({ models, kinds }: QuotaWeights): WrittenWeights {
  const write = (entries: Iterable<[string, Factor]>): Record<string, string> =>
    Object.fromEntries([...entries].map(([name, factor]) => [name, presentFactor(factor)]));
  return { models: write(models), kinds: write(Object.entries(kinds)) };
}
