import { type Bill, computeCharge } from "../../lib/bill.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";
import { countStartedSeconds } from "../../lib/started-seconds.ts";
import type { GenerationRequest } from "../../providers/generation.ts";
import type { Price } from "../catalog/index.ts";
import type { StagedTerms, StageTerms, TaskOutput, TaskTerms, UnitTerms } from "./task.ts";

const quotaKinds = { image: "image", video: "video", avatar: "video", speech: "text" } as const satisfies Record<
  GenerationRequest["type"],
  QuotaKind
>;
const charactersPerToken = 4n;
const charactersPerPrice = 1000n;

/** What determines a task's maximum cost before it runs. */
export type Quotable = { request: GenerationRequest; audioSeconds: number | null; budgetAmount: Nano | null };

/** The most that a task can cost at the current price. */
export function quoteTask(price: Price, { request, audioSeconds, budgetAmount }: Quotable): UnitTerms {
  const { amounts } = price;
  invariant(amounts.billingType !== "token", `${price.modelId} makes media and is priced by tokens`);
  const counts = nameCount(amounts.unit);
  const unitsMax = BigInt(countAsked(counts, request, audioSeconds));
  return {
    priceId: price.id,
    rate: amounts.price,
    per: counts === "characters" ? charactersPerPrice : 1n,
    minimum: price.minimumCharge,
    counts,
    unitsMax,
    quota: { kind: quotaKinds[request.type], unitsMax: countQuota(request, audioSeconds) },
    budgetAmount,
  };
}

function nameCount(unit: string): UnitTerms["counts"] {
  switch (unit) {
    case "image":
      return "images";
    case "second":
      return "seconds";
    case "1K characters":
      return "characters";
    default:
      return "calls";
  }
}

function countAsked(counts: UnitTerms["counts"], request: GenerationRequest, audioSeconds: number | null): number {
  switch (counts) {
    case "calls":
      return 1;
    case "images":
      return request.type === "image" ? request.count : 1;
    case "seconds":
      return request.type === "video" ? request.durationSeconds : (audioSeconds ?? 1);
    case "characters":
      return request.type === "speech" ? countCharacters(request.text) : 1;
  }
}

function countQuota(request: GenerationRequest, audioSeconds: number | null): bigint {
  switch (request.type) {
    case "image":
      return BigInt(request.count);
    case "video":
      return BigInt(request.durationSeconds);
    case "avatar":
      return BigInt(audioSeconds ?? 1);
    case "speech":
      return toTokens(BigInt(countCharacters(request.text)));
  }
}

/** Counts code points, as people count characters. */
export function countCharacters(text: string): number {
  return [...text].length;
}

function toTokens(characters: bigint): bigint {
  return (characters + charactersPerToken - 1n) / charactersPerToken;
}

/** The bill for a task's outputs; `null` if there is nothing to charge. */
export function billDelivered(terms: TaskTerms, output: readonly TaskOutput[]): { bill: Bill | null; units: bigint } {
  if ("stages" in terms) return billStages(terms, (stage) => countStage(stage, output));
  const units = countDelivered(terms, output);
  return { bill: units === 0n ? null : billTask(terms, units), units };
}

/** Units delivered; never more than requested. */
function countDelivered({ counts, unitsMax }: UnitTerms, output: readonly TaskOutput[]): bigint {
  if (output.length === 0) return 0n;
  if (counts === "calls" || counts === "characters") return unitsMax;
  const delivered = counts === "images" ? output.length : sumSeconds(output);
  return BigInt(delivered) < unitsMax ? BigInt(delivered) : unitsMax;
}

function countStage({ counts, unitsMax, outputType }: StageTerms, output: readonly TaskOutput[]): bigint {
  const made = output.filter(({ type }) => type === outputType);
  if (made.length === 0 || counts === "calls") return made.length === 0 ? 0n : unitsMax;
  const seconds = BigInt(sumSeconds(made));
  return seconds < unitsMax ? seconds : unitsMax;
}

/** Started seconds count, as they do in a request. */
function sumSeconds(output: readonly TaskOutput[]): number {
  return countStartedSeconds(output.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0));
}

/** The bill for a number of units. */
export function billTask(terms: UnitTerms, units: bigint): Bill {
  const { priceId, per, minimum, counts, rate, unitsMax, quota } = terms;
  return {
    priceId,
    per,
    minimum,
    items: [{ name: counts, quantity: units, rate }],
    quotaUnits: unitsMax === 0n ? 0n : (quota.unitsMax * units + unitsMax - 1n) / unitsMax,
  };
}

/** Each stage is charged separately, including its minimum, at the price stored with the task. */
function billStages(
  { stages }: StagedTerms,
  count: (stage: StageTerms) => bigint,
): { bill: Bill | null; units: bigint } {
  const due = stages.map((stage) => ({ stage, units: count(stage) })).filter(({ units }) => units > 0n);
  const last = due.at(-1);
  if (last === undefined) return { bill: null, units: 0n };
  const units = due.reduce((sum, one) => sum + one.units, 0n);
  const bill = {
    priceId: last.stage.priceId,
    per: 1n,
    minimum: nothing,
    items: due.map((one) => itemizeStage(one.stage, one.units)),
    quotaUnits: units,
  };
  return { bill, units };
}

function itemizeStage({ step, counts, rate, minimum }: StageTerms, units: bigint): Bill["items"][number] {
  return units * rate < minimum
    ? { name: `${step}_minimum`, quantity: 1n, rate: minimum }
    : { name: `${step}_${counts}`, quantity: units, rate };
}

/** The charge for a stage, once its output exists. */
export function priceStage(stage: StageTerms, output: readonly TaskOutput[]): Nano {
  const units = countStage(stage, output);
  return units === 0n ? nothing : computeCharge({ items: [itemizeStage(stage, units)], per: 1n, minimum: nothing });
}

/** The amount to hold for a task: its maximum cost. */
export function priceTask(terms: TaskTerms): Nano {
  if (!("stages" in terms)) return computeCharge(billTask(terms, terms.unitsMax));
  const { bill } = billStages(terms, ({ unitsMax }) => unitsMax);
  return bill === null ? nothing : computeCharge(bill);
}

/** Converts counted units to price units, rounding up. */
export function countPriceUnits(terms: TaskTerms, units: bigint): bigint {
  const per = "stages" in terms ? 1n : terms.per;
  return (units + per - 1n) / per;
}

export const nothing: Nano = nano(0n);
