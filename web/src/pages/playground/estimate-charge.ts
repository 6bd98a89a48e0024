import type { ModelDetail, PriceList } from "../../api/fetch-catalog.ts";
import { type DramaPlan, planScript } from "./estimate-drama.ts";
import { dramaStages, type MediaType } from "./media-fields.ts";
import { countCharacters, type MediaValues, readFiles, readText } from "./media-values.ts";
import { fromNano, toNano } from "./nano-amount.ts";
import type { Quote } from "./use-quote.ts";

type PriceEntry = PriceList["data"][number];

/** `exact`, an upper bound, or an estimate from the script. */
export type Estimate =
  | { kind: "exact" | "most"; amount: string }
  | { kind: "range"; amount: string; most: string }
  | ({ kind: "about"; amount: string; most: string } & DramaPlan);

/** What the run puts on hold. */
export function findHold(estimate: Estimate): string {
  return "most" in estimate ? estimate.most : estimate.amount;
}

/** The server's quote knows every condition of a price; the estimate is there at once. */
export function applyQuote(estimate: Estimate | null, quote: Quote | null): Estimate | null {
  if (quote === null) return estimate;
  const amounts = { amount: quote.estimate.charge, most: quote.max_charge };
  if (estimate?.kind === "about") return { ...estimate, ...amounts };
  if (amounts.amount === amounts.most) return { kind: "exact", amount: amounts.most };
  return { kind: "range", ...amounts };
}

const charactersPerPrice = 1000n;

type Asked = { model: Pick<ModelDetail, "id" | "type" | "limits">; body: Record<string, unknown>; values: MediaValues };

/** The estimated charge by the account's prices; `null` if unknown. The actual charge may differ. */
export function estimateCharge(prices: readonly PriceEntry[], { model, body, values }: Asked): Estimate | null {
  const own = prices.filter((price) => price.model === model.id);
  if (model.type === "chat" || model.type === "embedding" || model.type === "transcription") return null;
  if (model.type === "drama") return estimateDrama(own, { model, body, values });
  const capability = nameCapability(model.type, body);
  const price = own.find((each) => each.capability === capability) ?? own.find((each) => each.capability === undefined);
  const units = price === undefined ? null : countUnits(price.unit, { model, body, values });
  if (price === undefined || units === null) return null;
  const facts = readFacts(model, body);
  const rate = findRate(price, nameUnitItem(price.unit), facts) ?? price.price;
  if (rate === undefined) return null;
  const per = price.unit === "1K characters" ? charactersPerPrice : 1n;
  const amount = (units * toNano(rate) + per / 2n) / per + sumFees(price, { body, facts });
  return {
    kind: model.type === "avatar" ? "most" : "exact",
    amount: fromNano(atLeast(amount, price.minimum_charge)),
  };
}

type Facts = Readonly<Record<string, unknown>>;

/** The options that rates can depend on, as the request or the model's defaults set them. */
function readFacts({ limits, type }: Asked["model"], body: Facts): Facts {
  const offered: Facts = limits;
  const choose = (name: string, values: unknown, usual?: unknown): [string, unknown] => {
    const asked = body[name] === "auto" ? undefined : body[name];
    return [name, asked ?? (Array.isArray(values) ? values[0] : usual)];
  };
  const options = ["resolution", "quality", "background", "input_fidelity", "frame_rate", "audio"];
  return Object.fromEntries([
    ...options.map((name) => choose(name, offered[name])),
    choose("size", offered.sizes, type === "image" ? "1024x1024" : undefined),
    choose("duration", offered.durations),
    choose("aspect_ratio", offered.aspect_ratios, "16:9"),
    choose("voice", offered.voices),
    ["input", countInputImages(body) > 0 ? "image" : "text"],
  ]);
}

function countInputImages({ input_images: images, last_image: last }: Facts): number {
  return (Array.isArray(images) ? images.length : 0) + (last === undefined ? 0 : 1);
}

/** The first rate of an item whose conditions the request meets, as the gateway chooses it. */
function findRate({ items = [] }: PriceEntry, wanted: string, facts: Facts): string | undefined {
  return items.find(({ item, price: _price, above_input_tokens: _above, ...when }) => {
    return item === wanted && Object.entries(when).every(([name, value]) => facts[name] === value);
  })?.price;
}

function nameUnitItem(unit: string): string {
  return unit === "1K characters" ? "character" : unit;
}

/** Fees beside the unit's price: for each input image, and for the call. */
function sumFees(price: PriceEntry, { body, facts }: { body: Facts; facts: Facts }): bigint {
  const images = findRate(price, "input_image", facts) ?? "0";
  const call = price.unit === "call" ? "0" : (findRate(price, "call", facts) ?? "0");
  return BigInt(countInputImages(body)) * toNano(images) + toNano(call);
}

function nameCapability(type: Exclude<MediaType, "drama">, body: Record<string, unknown>): string {
  const hasImages = body.input_images !== undefined;
  switch (type) {
    case "image":
      return hasImages ? "image_to_image" : "text_to_image";
    case "video":
      return hasImages ? "image_to_video" : "text_to_video";
    case "avatar":
      return "audio_driven_avatar";
    case "speech":
      return "text_to_speech";
  }
}

/** Rounds up to full seconds. */
function countUnits(unit: string, { body, values }: Asked): bigint | null {
  switch (unit) {
    case "image":
      return BigInt(typeof body.n === "number" ? body.n : 1);
    case "second": {
      if (typeof body.duration === "number") return BigInt(body.duration);
      const seconds = readFiles(values, "audio_file_id")[0]?.seconds ?? null;
      return seconds === null ? null : BigInt(Math.ceil(seconds));
    }
    case "1K characters": {
      const count = countCharacters(readText(values, "input"));
      return count === 0 ? null : BigInt(count);
    }
    case "call":
      return 1n;
    default:
      return null;
  }
}

/** Each stage up to the chosen one at its own price; a video by the estimated length of its script. */
function estimateDrama(prices: readonly PriceEntry[], { model, body }: Asked): Estimate | null {
  const script = typeof body.script === "string" ? body.script : JSON.stringify(body.script ?? "");
  const first = dramaStages.findIndex(
    ({ stage }) => script.trimStart().startsWith("{") && script.includes(`"drama.${stage}"`),
  );
  const last = dramaStages.findIndex(({ stage }) => stage === body.stage);
  const secondsMax = Math.max(1, ...(model.limits.durations ?? [1]));
  const plan = planScript(typeof body.script === "object" ? script : String(body.script ?? ""));
  const seconds = Math.min(secondsMax, plan?.seconds ?? secondsMax);
  const heldSeconds = Math.min(secondsMax, plan?.secondsMax ?? secondsMax);
  let most = 0n;
  let about = 0n;
  let isBySecond = false;
  for (const { capability } of dramaStages.slice(first + 1, last + 1)) {
    const price = prices.find((each) => each.capability === capability);
    if (price?.price === undefined) return null;
    const cost = (units: number) => atLeast(BigInt(units) * toNano(price.price ?? "0"), price.minimum_charge);
    isBySecond ||= price.unit === "second";
    most += cost(price.unit === "second" ? heldSeconds : 1);
    about += cost(price.unit === "second" ? seconds : 1);
  }
  if (!isBySecond) return { kind: "exact", amount: fromNano(most) };
  if (plan === null) return null;
  const amounts = { amount: fromNano(about), most: fromNano(most) };
  return { kind: "about", ...amounts, shots: plan.shots, seconds, secondsMax: heldSeconds };
}

function atLeast(amount: bigint, minimum: string | undefined): bigint {
  const least = minimum === undefined ? 0n : toNano(minimum);
  return amount > least ? amount : least;
}
