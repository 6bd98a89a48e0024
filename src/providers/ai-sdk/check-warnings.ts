import type { SharedV4Warning } from "@ai-sdk/provider";
import { ProviderError } from "../contract.ts";
import type { Dialect } from "./dialects.ts";

/** The fields of a request by the SDK's names of what they ask for. */
const paramsOfFeatures: ReadonlyMap<string, string> = new Map([
  ["frequencyPenalty", "frequency_penalty"],
  ["presencePenalty", "presence_penalty"],
  ["providerOptions.anthropic.effort", "reasoning_effort"],
  ["providerOptions.anthropic.thinking", "reasoning_effort"],
  ["reasoning", "reasoning_effort"],
  ["responseFormat", "response_format"],
  ["seed", "seed"],
  ["stopSequences", "stop"],
  ["strict", "tools"],
  ["temperature", "temperature"],
  ["toolChoice", "tool_choice"],
  ["topP", "top_p"],
]);

/**
 * What a package says it left out of the request, it left out of what the caller asked for. `findObstacle` should have
 * known; that it did not is told like any other refusal, instead of an answer to another question.
 */
export function checkWarnings(warnings: readonly SharedV4Warning[], dialect: Dialect): void {
  for (const warning of warnings) {
    if (warning.type !== "unsupported" || dialect.harmlessWarnings.has(warning.feature)) continue;
    throw new ProviderError("rejected", "The vendor's package left a part of the request out.", {
      param: paramsOfFeatures.get(warning.feature) ?? null,
      detail: { feature: warning.feature },
    });
  }
}
