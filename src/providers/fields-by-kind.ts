import { falFields } from "./fal/build-fal-input.ts";
import type { GenerationRequest } from "./generation.ts";
import { openAiFields } from "./openai-compatible/create-openai-generation.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import type { FieldRules } from "./route-terms.ts";

/** The fields that each kind of provider writes. Kinds that are absent decide by themselves. */
export const fieldsByKind: Partial<
  Record<ProviderDefinition["kind"], Partial<Record<GenerationRequest["type"], FieldRules>>>
> = { fal: falFields, "openai-compatible": openAiFields };
