import { isDeepStrictEqual } from "node:util";
import type { Catalog } from "./catalog.ts";
import type { CatalogFile, CatalogProblem, PriceLine } from "./catalog-file.ts";
import { createPrice } from "./compile-price.ts";
import type { Model } from "./model.ts";
import type { Price, PriceIdentity } from "./price.ts";
import { readPriceTerms } from "./read-price-line.ts";

/** The next version that applying a file creates, and which of its prices are new. */
export type CatalogChange = { next: Omit<Catalog, "version" | "appliedAt">; newPrices: readonly Price[] };

export type PlannedChange =
  | { kind: "possible"; change: CatalogChange }
  | { kind: "impossible"; problems: readonly CatalogProblem[] };

/**
 * Compares a checked file with the catalog in force. An unchanged price keeps its version. A changed one becomes a new
 * version, from now or from its `effective_at`. A price that has taken effect is never rewritten.
 */
export function planCatalogChange(input: {
  file: CatalogFile;
  current: Catalog | null;
  now: Date;
  createPriceId(): string;
}): PlannedChange {
  const { file, current, now } = input;
  const problems: CatalogProblem[] = [];
  const newPrices: Price[] = [];
  const prices = file.prices.map((line, index) => {
    const wanted = { ...readIdentity(line, now), terms: readPriceTerms(line) };
    if (isSuperseded(line, file.prices, now)) {
      const message = `A later price of ${line.model} with an effective_at is in force. Remove this one, which has none.`;
      problems.push({ path: ["prices", index], message });
    }
    const match = matchPrice(wanted, line, current?.prices ?? [], now);
    if (match.kind === "same") return match.price;
    if (match.kind === "rewritten") {
      const since = match.price.effectiveAt.toISOString();
      const message = `A price of ${line.model} has been in force since ${since} and can't be changed. Set effective_at to a future time, or remove it.`;
      problems.push({ path: ["prices", index], message });
      return match.price;
    }
    const price = createPrice({ ...wanted, id: input.createPriceId() }, wanted.terms);
    newPrices.push(price);
    return price;
  });
  if (problems.length > 0) return { kind: "impossible", problems };
  const models = file.models.map((model) => completeModel(model, current, now));
  const { currency, providers, multipliers = [] } = file;
  return { kind: "possible", change: { next: { currency, providers, models, prices, multipliers }, newPrices } };
}

/** An entry without a time means "from now on", so beside a timed one in force it would bring the old price back. */
function isSuperseded(line: PriceLine, lines: readonly PriceLine[], now: Date): boolean {
  if (line.effective_at !== undefined) return false;
  const scope = describeScope(readIdentity(line, now));
  return lines.some((other) => {
    const isTimed = other.effective_at !== undefined && new Date(other.effective_at) <= now;
    return isTimed && describeScope(readIdentity(other, now)) === scope;
  });
}

type Match = { kind: "same" | "rewritten"; price: Price } | { kind: "new" };

type Wanted = Omit<PriceIdentity, "id"> & Pick<Price, "terms">;

function matchPrice(wanted: Wanted, line: PriceLine, existing: readonly Price[], now: Date): Match {
  const ofScope = existing.filter((price) => describeScope(price) === describeScope(wanted));
  if (line.effective_at === undefined) {
    // Without a time the entry means the price in force.
    const inForce = ofScope
      .filter((price) => price.effectiveAt <= now)
      .toSorted((a, b) => b.effectiveAt.getTime() - a.effectiveAt.getTime())[0];
    const isSame = inForce !== undefined && isDeepStrictEqual(inForce.terms, wanted.terms);
    return isSame ? { kind: "same", price: inForce } : { kind: "new" };
  }
  const atThatTime = ofScope.find((price) => price.effectiveAt.getTime() === wanted.effectiveAt.getTime());
  if (atThatTime !== undefined && isDeepStrictEqual(atThatTime.terms, wanted.terms)) {
    return { kind: "same", price: atThatTime };
  }
  // Past charges used the price in force then, so it must stay.
  const rewritten =
    atThatTime !== undefined && wanted.effectiveAt <= now
      ? atThatTime
      : wanted.effectiveAt < now
        ? ofScope.find((price) => price.effectiveAt <= now)
        : undefined;
  return rewritten === undefined ? { kind: "new" } : { kind: "rewritten", price: rewritten };
}

function describeScope({ modelId, capability, planId, accountId }: Omit<PriceIdentity, "id">): string {
  return JSON.stringify([modelId, capability, planId, accountId]);
}

function readIdentity(line: PriceLine, now: Date): Omit<PriceIdentity, "id"> {
  return {
    modelId: line.model,
    capability: line.capability ?? null,
    planId: line.plan ?? null,
    accountId: line.account ?? null,
    effectiveAt: line.effective_at === undefined ? now : new Date(line.effective_at),
  };
}

/** Fills in defaults. A model keeps the date on which it first appeared. */
function completeModel(model: CatalogFile["models"][number], current: Catalog | null, now: Date): Model {
  const known = current?.models.find(({ id }) => id === model.id);
  return {
    ...model,
    logo: model.logo ?? "",
    description: model.description ?? "",
    advantages: model.advantages ?? [],
    scenarios: model.scenarios ?? [],
    limits: model.limits ?? {},
    created_at: model.created_at ?? known?.created_at ?? now.toISOString(),
    routes: (model.routes ?? []).map((route) => ({ priority: 0, weight: 1, ...route })),
  };
}
