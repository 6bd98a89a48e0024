import type { ProviderError } from "../../../../src/providers/contract.ts";
import type { GenerationRequest } from "../../../../src/providers/generation.ts";
import { createScriptedError } from "../sandbox-script.ts";

const refusedPattern = /\b(?:gory|bloodbaths?|beheaded|dismembered)\b/i;

/**
 * As services of this kind have a policy, so has the studio: what is too bloody is not drawn. Whoever tries their handling of
 * a refusal needs no words of the script for it.
 */
export function refuseContent(request: GenerationRequest): ProviderError | null {
  const isDrawn = request.type === "image" || request.type === "video";
  return isDrawn && refusedPattern.test(request.prompt)
    ? createScriptedError("content-refused", "The studio does not draw this.")
    : null;
}
