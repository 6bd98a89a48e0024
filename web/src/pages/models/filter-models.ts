import type { Model } from "../../api/fetch-catalog.ts";
import { nameCapability, nameType } from "../../parts/format/model-labels.ts";

export type ModelFilter = { type?: string; capability?: string; q?: string };

/** Models in which every word is found. */
export function filterModels<M extends Model>(models: readonly M[], { type, capability, q = "" }: ModelFilter): M[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter((model) => {
    if (type !== undefined && model.type !== type) return false;
    if (capability !== undefined && !model.capabilities.some((each) => each === capability)) return false;
    const text = describeModel(model);
    return words.every((word) => text.includes(word));
  });
}

function describeModel({ id, name, type, description, capabilities, advantages, scenarios }: Model): string {
  const texts = [
    id,
    name,
    nameType(type),
    description,
    ...capabilities.map(nameCapability),
    ...advantages,
    ...scenarios,
  ];
  return texts.join("\n").toLowerCase();
}
