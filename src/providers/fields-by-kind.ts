import { falFields } from "./fal/build-fal-input.ts";
import type { GenerationRequest } from "./generation.ts";
import { openAiFields } from "./openai-compatible/create-openai-generation.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import { queueVendors } from "./queues/queue-vendors.ts";
import type { FieldRules } from "./route-terms.ts";
import { speechVendors } from "./voices/speech-vendors.ts";

/** The fields that each kind of provider writes. Kinds that are absent decide by themselves. */
export const fieldsByKind: Partial<
  Record<ProviderDefinition["kind"], Partial<Record<GenerationRequest["type"], FieldRules>>>
> = {
  fal: falFields,
  "openai-compatible": openAiFields,
  azure: openAiFields,
  ...Object.fromEntries(
    Object.entries(queueVendors).map(([kind, { makes }]) => [
      kind,
      Object.fromEntries(Object.entries(makes).map(([type, { fields }]) => [type, fields])),
    ]),
  ),
  ...Object.fromEntries(Object.entries(speechVendors).map(([kind, { fields }]) => [kind, { speech: fields }])),
};
