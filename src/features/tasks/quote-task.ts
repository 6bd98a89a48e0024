import { type Bill, capBill, computeCharge } from "../../lib/bill.ts";
import { findCommonMultiple } from "../../lib/factor.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";
import { countStartedSeconds } from "../../lib/started-seconds.ts";
import type { GenerationRequest } from "../../providers/generation.ts";
import { chooseItem, markFacts, type Price, type PriceFacts } from "../catalog/index.ts";
import type { StagedTerms, StageTerms, TaskOutput, TaskTerms, UnitTerms } from "./task.ts";

const quotaKinds = { image: "image", video: "video", avatar: "video", speech: "text" } as const satisfies Record<
  GenerationRequest["type"],
  QuotaKind
>;
const charactersPerToken = 4n;
const charactersPerPrice = 1000n;

/** What determines a task's maximum cost before it runs. */
export type Quotable = {
  request: GenerationRequest;
  inputImages: number;
  audioSeconds: number | null;
  budgetAmount: Nano | null;
};

/** The most that a task can cost at the current price. It costs that much if it delivers what was requested. */
export function quoteTask(price: Price, { request, inputImages, audioSeconds, budgetAmount }: Quotable): UnitTerms {
  const { amounts, marks } = price;
  invariant(amounts.billingType !== "token", `${price.modelId} makes media and is priced by tokens`);
  const { items, per, unit } = amounts;
  const counts = nameCount(unit);
  const facts = readFacts(request, inputImages);
  const counted = itemByCount[counts];
  const chosen = chooseItem(items, counted, facts);
  invariant(chosen !== null, `no item of ${price.id} applies to this request`);
  const fees = (["input_image", "call"] as const).flatMap((item) => {
    const fee = item === counted ? null : chooseItem(items, item, facts);
    const quantity = BigInt(item === "call" ? 1 : inputImages);
    return fee === null || quantity === 0n ? [] : [{ name: `${item}s`, quantity, rate: fee.rate }];
  });
  return {
    ...{ priceId: price.id, rate: chosen.rate, per, minimum: price.minimumCharge, counts },
    unitsMax: BigInt(countAsked(counts, request, audioSeconds)),
    extras: [...fees, ...markFacts(amounts, facts), ...marks],
    quota: { kind: quotaKinds[request.type], unitsMax: countQuota(request, audioSeconds) },
    budgetAmount,
  };
}

const itemByCount = {
  images: "image",
  seconds: "second",
  characters: "character",
  calls: "call",
} as const satisfies Record<UnitTerms["counts"], string>;

/** What rates can depend on. */
function readFacts(request: GenerationRequest, inputImages: number): PriceFacts {
  const input = inputImages > 0 ? "image" : "text";
  switch (request.type) {
    case "image":
      return { ...request.options, size: `${request.width}x${request.height}`, input };
    case "video":
      return { ...request.options, duration: request.durationSeconds, aspect_ratio: request.aspectRatio, input };
    case "avatar":
      return { ...request.options, aspect_ratio: request.aspectRatio };
    case "speech":
      return { voice: request.voice };
  }
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
  const { bill, units } = billWhole(terms, output);
  return { bill: bill === null ? null : capBill(bill, terms.quoted ?? null), units };
}

/** The bill without the cap of a quote. */
function billWhole(terms: TaskTerms, output: readonly TaskOutput[]): { bill: Bill | null; units: bigint } {
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
export function sumSeconds(output: readonly TaskOutput[]): number {
  return countStartedSeconds(output.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0));
}

/** The bill for a number of units. */
export function billTask(terms: UnitTerms, units: bigint): Bill {
  const { priceId, per, minimum, counts, rate, unitsMax, quota, extras } = terms;
  return {
    priceId,
    per,
    minimum,
    items: [{ name: counts, quantity: units, rate }, ...extras],
    quotaUnits: unitsMax === 0n ? 0n : (quota.unitsMax * units + unitsMax - 1n) / unitsMax,
  };
}

/** Each stage is charged separately, including its minimum, at the price stored with the task. */
function billStages(
  { stages, marks }: StagedTerms,
  count: (stage: StageTerms) => bigint,
): { bill: Bill | null; units: bigint } {
  const due = stages.map((stage) => ({ stage, units: count(stage) })).filter(({ units }) => units > 0n);
  const last = due.at(-1);
  if (last === undefined) return { bill: null, units: 0n };
  const units = due.reduce((sum, one) => sum + one.units, 0n);
  const per = due.reduce((common, { stage }) => findCommonMultiple(common, stage.per), 1n);
  const bill = {
    ...{ priceId: last.stage.priceId, per, minimum: nothing, quotaUnits: units },
    items: [...due.map((one) => itemizeStage(one.stage, one.units, per)), ...marks],
  };
  return { bill, units };
}

function itemizeStage(stage: StageTerms, units: bigint, per: bigint): Bill["items"][number] {
  const { step, counts, minimum } = stage;
  const rate = nano(stage.rate * (per / stage.per));
  return units * rate < minimum * per
    ? { name: `${step}_minimum`, quantity: 1n, rate: nano(minimum * per) }
    : { name: `${step}_${counts}`, quantity: units, rate };
}

/** The charge for a stage, once its output exists. */
export function priceStage(stage: StageTerms, output: readonly TaskOutput[]): Nano {
  const units = countStage(stage, output);
  const { per } = stage;
  return units === 0n ? nothing : computeCharge({ items: [itemizeStage(stage, units, per)], per, minimum: nothing });
}

/** The amount to hold for a task: its maximum cost. */
export function priceTask(terms: TaskTerms): Nano {
  const { quoted } = terms;
  const most = priceWhole(terms);
  return quoted !== undefined && quoted < most ? quoted : most;
}

function priceWhole(terms: TaskTerms): Nano {
  if (!("stages" in terms)) return computeCharge(billTask(terms, terms.unitsMax));
  const { bill } = billStages(terms, ({ unitsMax }) => unitsMax);
  return bill === null ? nothing : computeCharge(bill);
}

/** The most units that a task is charged for. A text is one, as it is for a call that speaks it. */
export function countUnitsMax(terms: TaskTerms): bigint {
  if ("stages" in terms) return terms.stages.reduce((sum, { unitsMax }) => sum + unitsMax, 0n);
  return terms.counts === "characters" ? 1n : terms.unitsMax;
}

/** Converts counted units to price units, rounding up. */
export function countPriceUnits(terms: TaskTerms, units: bigint): bigint {
  const each = !("stages" in terms) && terms.counts === "characters" ? charactersPerPrice : 1n;
  return (units + each - 1n) / each;
}

export const nothing: Nano = nano(0n);
