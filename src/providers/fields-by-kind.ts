import { falFields, findFalFields } from "./fal/find-fal-fields.ts";
import type { GenerationRequest } from "./generation.ts";
import { openAiFields } from "./openai-compatible/create-openai-generation.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import { bedrockMedia } from "./queues/bedrock-media.ts";
import { findProducts, listProductFields } from "./queues/find-products.ts";
import { queueVendors } from "./queues/queue-vendors.ts";
import type { FieldRules } from "./route-terms.ts";
import { speechVendors } from "./voices/speech-vendors.ts";

type FieldsByType = Partial<Record<GenerationRequest["type"], FieldRules>>;

/** The fields that each kind of provider writes. Kinds that are absent decide by themselves. */
export const fieldsByKind: Partial<Record<ProviderDefinition["kind"], FieldsByType>> = {
  fal: falFields,
  "openai-compatible": openAiFields,
  azure: openAiFields,
  "bedrock-media": listProductFields(bedrockMedia.makes),
  ...Object.fromEntries(Object.entries(queueVendors).map(([kind, { makes }]) => [kind, listProductFields(makes)])),
  ...Object.fromEntries(Object.entries(speechVendors).map(([kind, { fields }]) => [kind, { speech: fields }])),
};

/** The fields of one of its models, as far as they are known. */
export function findModelFields(kind: ProviderDefinition["kind"], upstreamModel: string): FieldsByType | undefined {
  switch (kind) {
    case "fal":
      return findFalFields(upstreamModel);
    case "bedrock-media":
      return listProductFields(findProducts(bedrockMedia, upstreamModel));
    default:
      return fieldsByKind[kind];
  }
}
