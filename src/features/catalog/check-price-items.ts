import { parseMoney } from "../../lib/money.ts";
import type { ModelEntry, PriceItemLine, PriceLine, ReportProblem } from "./catalog-file.ts";
import { chooseItem } from "./choose-item.ts";
import type { ModelType } from "./model.ts";
import {
  findCountedItem,
  type ItemName,
  isTokenItem,
  type PriceFacts,
  type PriceItem,
  type PriceKey,
  priceKeysByType,
  type TokenItem,
  type TokenPriceName,
  tokenPriceNames,
} from "./price.ts";
import { readPriceTerms, readUnit, readWhen } from "./read-price-line.ts";

type Path = readonly (string | number)[];
type Place = { path: Path; report: ReportProblem };

const inputItems: readonly ItemName[] = ["input", "cached_input", "cache_write_5m", "cache_write_1h", "input_audio"];
const chatTokens: readonly ItemName[] = [...inputItems, "output", "reasoning", "output_audio"];

/** The items of tokens that each type can be charged by, beside the one that its unit counts. */
const tokensByType: Partial<Record<ModelType, readonly ItemName[]>> = {
  chat: [...chatTokens, "call", "search"],
  embedding: ["input", "output"],
  transcription: ["input", "input_audio", "output"],
};
const feesByType: Partial<Record<ModelType, readonly ItemName[]>> = {
  image: ["input_image", "call"],
  video: ["input_image", "call"],
};

/** Each limit splits one kind of input into two lines of the bill, which has room for so many. */
const limitsMax = 3;
/** More combinations than any vendor prices. */
const combinationsMax = 10_000;

/** Checks that each item is possible, and that every request the model accepts has a rate. The amounts are valid. */
export function checkPriceItems(line: PriceLine, model: ModelEntry, place: Place): void {
  const isFine = (line.items ?? []).map((entry, index) =>
    checkItem(entry, { line, model }, { ...place, path: [...place.path, "items", index] }),
  );
  if (isFine.includes(false)) return;
  if (line.billing_type === "token") {
    checkTiers(line, model, place);
    checkServiceTiers(line, model, place);
    return;
  }
  if (line.tier_scope !== undefined) {
    place.report([...place.path, "tier_scope"], "Only prices of tokens have tiers. Remove tier_scope.");
  }
  if (line.service_tiers !== undefined) {
    place.report([...place.path, "service_tiers"], "Only prices of tokens have service tiers. Remove service_tiers.");
  }
  checkCombinations(line, model, place);
}

/** Whether the item can be charged at all. */
function checkItem(
  entry: PriceItemLine,
  { line, model }: { line: PriceLine; model: ModelEntry },
  { path, report }: Place,
): boolean {
  const unit = readUnit(line.unit);
  const { item = findCountedItem(unit) } = entry;
  const isToken = line.billing_type === "token";
  const known = isToken ? (tokensByType[model.type] ?? []) : [findCountedItem(unit), ...(feesByType[model.type] ?? [])];
  if (!known.includes(item)) {
    report(
      [...path, "item"],
      `${model.type} models priced by ${line.unit} have no item ${item}. Use: ${[...new Set(known)].join(", ")}.`,
    );
    return false;
  }
  if (entry.above_input_tokens !== undefined && (model.type !== "chat" || !isTokenItem(item))) {
    report([...path, "above_input_tokens"], "Only tokens of chat models have tiers. Remove above_input_tokens.");
    return false;
  }
  const keys: readonly PriceKey[] = isToken ? [] : priceKeysByType[model.type];
  const when = readWhen(entry).when ?? {};
  for (const [key, value] of Object.entries(when) as [PriceKey, string | number | boolean][]) {
    if (!keys.includes(key)) {
      const rule = keys.length === 0 ? "Remove it." : `Use: ${keys.join(", ")}.`;
      report([...path, key], `The rate of ${item} can't depend on ${key}. ${rule}`);
      return false;
    }
    const values = listValues(model, key, line.capability);
    if (values.includes(value)) continue;
    report([...path, key], explainValue(model, { key, value, values }));
    return false;
  }
  return true;
}

function explainValue(
  { id }: ModelEntry,
  { key, value, values }: { key: PriceKey; value: unknown; values: readonly unknown[] },
): string {
  if (values.length === 0) return `${id} does not offer ${key}. Add it to the model's limits, or remove it here.`;
  return `${id} does not offer ${key} ${String(value)}. It offers: ${values.map(String).join(", ")}.`;
}

const limitOfKey: Partial<Record<PriceKey, "sizes" | "durations" | "aspect_ratios" | "voices">> = {
  size: "sizes",
  duration: "durations",
  aspect_ratio: "aspect_ratios",
  voice: "voices",
};
/** What models without the limit offer; `src/features/tasks` fills it in. */
const usualValues: Partial<Record<PriceKey, readonly (string | number)[]>> = {
  size: ["1024x1024"],
  duration: [5],
  aspect_ratio: ["16:9"],
};

/** The values that requests for a model can have. */
function listValues(
  model: ModelEntry,
  key: PriceKey,
  capability: PriceLine["capability"],
): readonly (string | number | boolean)[] {
  if (key === "input") {
    const served = capability === undefined ? model.capabilities : [capability];
    return (["text", "image"] as const).filter((input) => served.some((name) => name.startsWith(`${input}_to_`)));
  }
  const limit = limitOfKey[key] ?? key;
  const offered = model.limits?.[limit as keyof NonNullable<ModelEntry["limits"]>];
  return Array.isArray(offered) ? offered : (usualValues[key] ?? []);
}

function checkTiers(line: PriceLine, model: ModelEntry, { path, report }: Place): void {
  const limits = new Set<number>();
  const seen = new Set<string>();
  for (const [index, entry] of (line.items ?? []).entries()) {
    const { item = "input", above_input_tokens: above } = entry;
    const place = [...path, "items", index];
    const name = `${item} ${above ?? 0}`;
    if (seen.has(name) || (above === undefined && hasShortForm(line, item))) {
      report(place, `The price already has a rate of ${item} for these calls. Remove one.`);
    }
    seen.add(name);
    if (item === "search" && model.extra_parameters?.includes("web_search_options") !== true) {
      report(
        [...place, "item"],
        `Requests for ${model.id} can't ask for a search. Add web_search_options to the model's extra_parameters, or remove this item.`,
      );
    }
    if (above === undefined) continue;
    limits.add(above);
    const window = model.limits?.context_window;
    if (window !== undefined && above >= window) {
      report(
        [...place, "above_input_tokens"],
        `No input of ${model.id} is longer than its context_window of ${window} tokens. Lower above_input_tokens, or remove this item.`,
      );
    }
    if (line.tier_scope === "part" && !inputItems.includes(item)) {
      report([...place, "item"], `With tier_scope part, only input has tiers. Remove this rate of ${item}.`);
    }
  }
  if (line.tier_scope !== undefined && limits.size === 0) {
    report([...path, "tier_scope"], "No item has above_input_tokens. Add tiers, or remove tier_scope.");
  }
  if (line.tier_scope === "part" && limits.size > limitsMax) {
    report([...path, "items"], `With tier_scope part, a price has at most ${limitsMax} different above_input_tokens.`);
  }
  const needed: TokenItem[] = model.type === "embedding" ? ["input"] : ["input", "output"];
  for (const item of needed) {
    if (seen.has(`${item} 0`) || hasShortForm(line, item)) continue;
    report(path, `A price with billing_type token needs ${item}_price. Add it.`);
  }
}

function hasShortForm(line: PriceLine, wanted: ItemName): boolean {
  const named = Object.entries(tokenPriceNames) as [TokenPriceName, TokenItem][];
  return named.some(([name, item]) => item === wanted && line[name] !== undefined);
}

function checkServiceTiers({ service_tiers: tiers }: PriceLine, model: ModelEntry, { path, report }: Place): void {
  if (tiers === undefined) return;
  if (model.type === "chat" && model.extra_parameters?.includes("service_tier") === true) return;
  const remedy = model.type === "chat" ? "Add it to the model's extra_parameters, or remove this." : "Remove this.";
  report([...path, "service_tiers"], `Requests for ${model.id} can't have a service_tier. ${remedy}`);
}

/** Tries every combination of the options that rates depend on. */
function checkCombinations(line: PriceLine, model: ModelEntry, { path, report }: Place): void {
  const { items } = readPriceTerms(line);
  const keys = [...new Set(items.flatMap(({ when = {} }) => Object.keys(when) as PriceKey[]))];
  const combinations = listCombinations(keys.map((key) => ({ key, values: listValues(model, key, line.capability) })));
  if (combinations === null) {
    report([...path, "items"], "The options of these items have too many combinations. Use fewer options.");
    return;
  }
  const counted = findCountedItem(readUnit(line.unit));
  const used = new Set<PriceItem>();
  for (const facts of combinations) {
    for (const name of new Set(items.map(({ item }) => item))) {
      const chosen = chooseItem(items, name, facts);
      if (chosen !== null) used.add(chosen);
    }
    if (items.some(({ item }) => item === counted) && chooseItem(items, counted, facts) === null) {
      const asked = Object.entries(facts).map(([key, value]) => `${key} ${String(value)}`);
      report(
        path,
        `No rate of ${counted} applies to requests with ${asked.join(", ")}. Add an item, or a price for the rest.`,
      );
      return;
    }
  }
  if (!items.some(({ item }) => item === counted)) {
    report(path, `A price with billing_type ${line.billing_type} needs price. Add it.`);
    return;
  }
  const written = line.items ?? [];
  // Sorting keeps the order of equal names, so the written entries are found by what they say.
  for (const [index, entry] of written.entries()) {
    const { item = counted } = entry;
    const when = readWhen(entry).when;
    const own = items.filter((one) => one.item === item && isSame(one.when, when));
    const isRepeated =
      written.findIndex((one) => (one.item ?? counted) === item && isSame(readWhen(one).when, when)) !== index;
    if (!isRepeated && own.some((one) => used.has(one))) continue;
    report(
      [...path, "items", index],
      `Earlier items apply to every request that this one is for. Move it up, or remove it.`,
    );
  }
  const last = items.findLast(({ item }) => item === counted);
  if (line.price !== undefined && last !== undefined && !used.has(last)) {
    report([...path, "price"], "The items apply to every request. Remove price, or an item.");
  }
}

function isSame(one: PriceFacts | undefined, other: PriceFacts | undefined): boolean {
  return JSON.stringify(one ?? {}) === JSON.stringify(other ?? {});
}

type Choice = { key: PriceKey; values: readonly (string | number | boolean)[] };

/** `null` if there are too many. */
function listCombinations(choices: readonly Choice[]): PriceFacts[] | null {
  if (choices.reduce((product, { values }) => product * Math.max(values.length, 1), 1) > combinationsMax) return null;
  return choices.reduce<PriceFacts[]>(
    (combinations, { key, values }) =>
      values.length === 0
        ? combinations
        : combinations.flatMap((facts) => values.map((value) => ({ ...facts, [key]: value }))),
    [{}],
  );
}

/** Whether the amount is one; per million units, it can have six places. */
export function isAmount(text: string, { isPerMillion }: { isPerMillion: boolean }): boolean {
  const amount = parseMoney(text);
  return amount !== null && (!isPerMillion || amount % 1000n === 0n);
}
