import type { Capability, ModelType } from "../model.ts";
import { unitsByBillingType, unitsByType } from "../price.ts";
import { type Decimal, parseDecimal } from "./exact-decimal.ts";
import {
  asFields,
  asList,
  type ImportedModel,
  readText,
  type SourceEntry,
  type SourceOptions,
} from "./source-entry.ts";

/** What each of fal's categories makes. */
const categories: Readonly<Record<string, { type: ModelType; capability: Capability }>> = {
  "text-to-image": { type: "image", capability: "text_to_image" },
  "image-to-image": { type: "image", capability: "image_to_image" },
  "text-to-video": { type: "video", capability: "text_to_video" },
  "image-to-video": { type: "video", capability: "image_to_video" },
};

/** fal's units in the catalog's words; others, such as megapixels and GPU seconds, depend on the output. */
const units: Readonly<Record<string, string>> = {
  image: "image",
  images: "image",
  second: "second",
  seconds: "second",
  video_second: "second",
  video: "call",
  videos: "call",
  generation: "call",
  generations: "call",
};

/** `{"models": […], "prices": […]}`: fal's `GET /v1/models` and `GET /v1/models/pricing` in one file. */
export function readFal(data: unknown): SourceEntry[] {
  const { models, prices } = asFields(data);
  const priceById = new Map(asList(prices).map((price) => [asFields(price).endpoint_id, asFields(price)]));
  return asList(models).map((value): SourceEntry => {
    const { endpoint_id: endpoint, metadata } = asFields(value);
    const { display_name: name, category, status } = asFields(metadata);
    const id = readText(endpoint) ?? "";
    const made = categories[readText(category) ?? ""];
    const price = priceById.get(id);
    const amount = parseDecimal(price?.unit_price);
    const unit = units[(readText(price?.unit) ?? "").toLowerCase()];
    if (status === "deprecated") return { id, reason: "it is deprecated" };
    if (made === undefined) return { id, reason: `its category is ${readText(category) ?? "unknown"}` };
    if (price === undefined || amount === null) return { id, reason: "the file has no price of it" };
    if (price.currency !== "USD") return { id, reason: `its price is in ${String(price.currency)}` };
    if (unit === undefined || !(unitsByType[made.type] as readonly string[]).includes(unit)) {
      return { id, reason: `it is priced by ${String(price.unit)}` };
    }
    return { id, model: describeMedia(id, readText(name) ?? id, { ...made, unit, amount }) };
  });
}

const replicateCapabilities: Partial<Record<ModelType, Capability>> = {
  image: "text_to_image",
  video: "text_to_video",
  avatar: "audio_driven_avatar",
};

/** Replicate's `GET /v1/models`, which has neither types nor prices: the operator gives them. */
export function readReplicate(data: unknown, { type, price }: SourceOptions): SourceEntry[] {
  return asList(asFields(data).results).map((value): SourceEntry => {
    const { owner, name } = asFields(value);
    const id = `${readText(owner) ?? ""}/${readText(name) ?? ""}`;
    const capability = type === undefined ? undefined : replicateCapabilities[type];
    if (type === undefined || capability === undefined) {
      return { id, reason: "the file has no type: add --type image, video or avatar" };
    }
    if (price === undefined) return { id, reason: "the file has no price: add --price" };
    const unit = type === "image" ? "image" : "call";
    return { id, model: describeMedia(id, id, { type, capability, unit, amount: price }) };
  });
}

type Made = { type: ModelType; capability: Capability; unit: string; amount: Decimal };

function describeMedia(id: string, name: string, { type, capability, unit, amount }: Made): ImportedModel {
  const isPerCall = (unitsByBillingType.per_call as readonly string[]).includes(unit);
  return {
    ...{ upstreamModel: id, name, type, capabilities: [capability] },
    limits: type === "image" ? { max_n: 1 } : {},
    price: { billing_type: isPerCall ? "per_call" : "duration", unit, amounts: { price: amount } },
  };
}
