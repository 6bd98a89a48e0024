import type { ChatUsage, NativeRequest } from "../contract.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";
import { readUsage } from "../openai-compatible/read-usage.ts";
import { pick, pickCounts } from "./native-events.ts";

/** The fields of a response that reach a caller, besides its id, model and usage. */
const responseFields = [
  ..."background completed_at created_at error incomplete_details instructions max_tool_calls metadata object".split(
    " ",
  ),
  ..."output parallel_tool_calls prompt_cache_key prompt_cache_retention reasoning safety_identifier".split(" "),
  ..."service_tier status temperature text tool_choice tools top_logprobs top_p truncation user".split(" "),
];

/** The vendor got our limits and `store: false`; the caller gets the requested values. */
export function cleanResponse(response: JsonRecord, { envelope, body }: NativeRequest): Record<string, unknown> {
  const { id, model } = envelope;
  return {
    id,
    ...pick(response, responseFields),
    output: Array.isArray(response.output) ? response.output : [],
    model,
    max_output_tokens: body.max_output_tokens ?? null,
    previous_response_id: body.previous_response_id ?? null,
  };
}

/** The vendor's usage in its own format: only the counts. */
export function cleanResponseUsage(value: unknown): Record<string, unknown> | null {
  const usage = asRecord(value);
  if (usage === null) return null;
  return {
    ...pickCounts(usage, ["input_tokens", "output_tokens", "total_tokens"]),
    input_tokens_details: pickCounts(asRecord(usage.input_tokens_details) ?? {}, [
      "cached_tokens",
      "cache_write_tokens",
    ]),
    output_tokens_details: pickCounts(asRecord(usage.output_tokens_details) ?? {}, ["reasoning_tokens"]),
  };
}

export function readResponseUsage(value: unknown): ChatUsage | null {
  const usage = asRecord(value);
  if (usage === null) return null;
  return readUsage({
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: usage.input_tokens_details,
    completion_tokens_details: usage.output_tokens_details,
  });
}

/** The chat finish reason of a response; `null` if it failed or has not ended. */
export function readResponseFinish({ status, incomplete_details: details, output }: JsonRecord): string | null {
  if (status === "incomplete") return asRecord(details)?.reason === "content_filter" ? "content_filter" : "length";
  if (status !== "completed") return null;
  return Array.isArray(output) && output.some(isCall) ? "tool_calls" : "stop";
}

function isCall(item: unknown): boolean {
  const type = asRecord(item)?.type;
  return type === "function_call" || type === "custom_tool_call";
}

/** Items that count as content only if they have text. Items of any other type always do. */
const textItems: ReadonlySet<unknown> = new Set(["message", "reasoning"]);

export function isItemContent(item: unknown): boolean {
  const type = asRecord(item)?.type;
  return typeof type === "string" && !textItems.has(type);
}

/** Items with text in known fields. In other types, text may be anywhere. */
const readItems: ReadonlySet<unknown> = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);

/** Fields without text of the model: identifiers and media. */
const mechanicalFields: ReadonlySet<string> = new Set([
  ..."id call_id type status role result results output outputs data encrypted_content image_url".split(" "),
  ..."file_id signature container_id server_label annotations logprobs".split(" "),
]);
const depthMax = 16;

function listTexts(value: unknown, levels: number): string[] {
  if (typeof value === "string") return [value];
  if (levels === 0 || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each: unknown) => listTexts(each, levels - 1));
  return Object.entries(value).flatMap(([name, each]) =>
    mechanicalFields.has(name) ? [] : listTexts(each, levels - 1),
  );
}

/** The text that the model wrote in an item of a complete response. */
export function readItemText(item: unknown): string {
  const record = asRecord(item);
  if (record === null) return "";
  if (!readItems.has(record.type)) return listTexts(record, depthMax).join("");
  const parts = [record.summary, record.content].flat().map((part) => {
    const { text, refusal } = asRecord(part) ?? {};
    return [text, refusal];
  });
  const texts = [record.name, record.arguments, record.input, ...parts.flat()];
  return texts.filter((text) => typeof text === "string").join("");
}
