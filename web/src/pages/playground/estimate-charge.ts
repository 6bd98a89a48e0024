import type { ModelDetail, PriceList } from "../../api/ask-catalog.ts";
import { dramaStages, type MediaType } from "./media-fields.ts";
import { countCharacters, type MediaValues, readFiles, readText } from "./media-values.ts";

type PriceEntry = PriceList["data"][number];

export type Estimate = {
  amount: string;
  /** It may become less: a video can be shorter than the maximum. */
  isMost: boolean;
};

const digits = 9;
const charactersPerPrice = 1000n;

type Asked = { model: Pick<ModelDetail, "id" | "type" | "limits">; body: Record<string, unknown>; values: MediaValues };

/** What a request will cost, by the account's prices; `null` while that cannot be told. The bill is what counts. */
export function estimateCharge(prices: readonly PriceEntry[], { model, body, values }: Asked): Estimate | null {
  const own = prices.filter((price) => price.model === model.id);
  if (model.type === "chat" || model.type === "embedding" || model.type === "transcription") return null;
  if (model.type === "drama") return estimateDrama(own, { model, body, values });
  const capability = nameCapability(model.type, body);
  const price = own.find((each) => each.capability === capability) ?? own.find((each) => each.capability === undefined);
  const units = price === undefined ? null : countUnits(price.unit, { model, body, values });
  if (price?.price === undefined || units === null) return null;
  const rate = toNano(price.price);
  const amount =
    price.unit === "1K characters" ? (units * rate + charactersPerPrice / 2n) / charactersPerPrice : units * rate;
  return { amount: fromNano(atLeast(amount, price.minimum_charge)), isMost: model.type === "avatar" };
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

/** Begun seconds count. */
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

/** Every stage up to the chosen one at its own price, a video at its maximum duration. */
function estimateDrama(prices: readonly PriceEntry[], { model, body }: Asked): Estimate | null {
  const last = dramaStages.findIndex(({ stage }) => stage === body.stage);
  let sum = 0n;
  for (const { capability } of dramaStages.slice(0, last + 1)) {
    const price = prices.find((each) => each.capability === capability);
    if (price?.price === undefined) return null;
    const units = price.unit === "second" ? BigInt(Math.max(1, ...(model.limits.durations ?? [1]))) : 1n;
    sum += atLeast(units * toNano(price.price), price.minimum_charge);
  }
  return { amount: fromNano(sum), isMost: true };
}

function atLeast(amount: bigint, minimum: string | undefined): bigint {
  const least = minimum === undefined ? 0n : toNano(minimum);
  return amount > least ? amount : least;
}

function toNano(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(digits, "0").slice(0, digits));
}

function fromNano(amount: bigint): string {
  const text = amount.toString().padStart(digits + 1, "0");
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`.replace(/0+$/, "").replace(/\.$/, "");
}
