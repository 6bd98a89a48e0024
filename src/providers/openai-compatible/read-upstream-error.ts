import type { Clock } from "../../lib/clock.ts";
import type { ProviderError } from "../contract.ts";
import { readVendorRefusal, type VendorRefusal } from "../failures/read-vendor-refusal.ts";

/** Classifies an error in OpenAI's format. */
export function readUpstreamError({ clock, ...refusal }: VendorRefusal & { clock: Clock }): ProviderError {
  return readVendorRefusal(refusal, { now: clock.now(), findParam: ({ param }) => readParam(param) });
}

const paramPattern = /^[a-z_]+(\[\d+\])?(\.[a-z_]+(\[\d+\])?)*$/;
const paramCharactersMax = 200;
/** Fields that callers can have set; the model is ours. */
const callersFields = new Set(
  (
    "messages stream stream_options tools tool_choice parallel_tool_calls response_format n max_tokens " +
    "max_completion_tokens stop temperature top_p frequency_penalty presence_penalty logit_bias logprobs top_logprobs " +
    "seed reasoning_effort verbosity audio function_call functions metadata modalities moderation prediction " +
    "prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier store user " +
    "web_search_options top_k min_p reasoning"
  ).split(" "),
);

function readParam(param: unknown): string | null {
  if (typeof param !== "string" || param.length > paramCharactersMax || !paramPattern.test(param)) return null;
  return callersFields.has(param.split(/[.[]/, 1)[0] ?? "") ? param : null;
}
