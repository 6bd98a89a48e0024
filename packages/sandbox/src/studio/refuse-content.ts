import type { ProviderError } from "../../../../src/providers/contract.ts";
import type { GenerationRequest } from "../../../../src/providers/generation.ts";
import { createScriptedError } from "../sandbox-script.ts";

const refusedPattern = /\b(?:gory|bloodbaths?|beheaded|dismembered)\b/i;

/**
 * A simple content policy for violent prompts, so that callers can test their handling of a rejection without script
 * words.
 */
export function refuseContent(request: GenerationRequest): ProviderError | null {
  const isDrawn = request.type === "image" || request.type === "video";
  return isDrawn && refusedPattern.test(request.prompt)
    ? createScriptedError("content-refused", "The prompt violates the studio's content policy.")
    : null;
}
