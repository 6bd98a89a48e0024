import type { ChatUsage, NativeRequest } from "../contract.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";
import { readUsage } from "../openai-compatible/read-usage.ts";
import { pick, pickCounts } from "./native-events.ts";

/** What a response says beside its id, its model and its usage. Only what is named here reaches a caller. */
const responseFields = [
  ..."background completed_at created_at error incomplete_details instructions max_tool_calls metadata object".split(
    " ",
  ),
  ..."output parallel_tool_calls prompt_cache_key prompt_cache_retention reasoning safety_identifier".split(" "),
  ..."service_tier status temperature text tool_choice tools top_logprobs top_p truncation user".split(" "),
];

/** The vendor was told of our limits and that nothing is kept; the caller is told what it asked for. */
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

/** What the vendor counted, in its own form, without its words. */
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

/** How a response ended, in the form of chat; `null` for one that failed or has not ended. */
export function readResponseFinish({ status, incomplete_details: details, output }: JsonRecord): string | null {
  if (status === "incomplete") return asRecord(details)?.reason === "content_filter" ? "content_filter" : "length";
  if (status !== "completed") return null;
  return Array.isArray(output) && output.some(isCall) ? "tool_calls" : "stop";
}

function isCall(item: unknown): boolean {
  const type = asRecord(item)?.type;
  return type === "function_call" || type === "custom_tool_call";
}

/** Items that are content only as far as they have text; those of any other type are content by themselves. */
const textItems: ReadonlySet<unknown> = new Set(["message", "reasoning"]);

export function isItemContent(item: unknown): boolean {
  const type = asRecord(item)?.type;
  return typeof type === "string" && !textItems.has(type);
}

/** Items whose texts stand in the same fields; what the model wrote in any other may stand anywhere in it. */
const readItems: ReadonlySet<unknown> = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);

/** Fields in which the model writes nothing: names of things, and media. */
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

/** What the model wrote in an item of a whole answer. */
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
