import { isUnread } from "../../lib/unread-json.ts";
import type { ChatObstacle, NativeRequest, NativeWire } from "../contract.ts";
import { asRecord } from "../openai-compatible/json-value.ts";

/**
 * Fields that are forwarded without configuration. A route must name all others: they are new, have a cost without a
 * price, or refer to objects in the vendor's account, which is ours and not the caller's.
 */
const commonFields: Readonly<Record<NativeWire, ReadonlySet<string>>> = {
  messages: new Set([
    ..."cache_control context_management diagnostics max_tokens messages metadata model output_config".split(" "),
    ..."output_format".split(" "),
    ..."service_tier stop_sequences stream system temperature thinking tool_choice tools top_k top_p".split(" "),
  ]),
  responses: new Set([
    ..."background conversation include input instructions max_output_tokens max_tool_calls metadata model".split(" "),
    "moderation",
    ..."parallel_tool_calls previous_response_id prompt_cache_key prompt_cache_options prompt_cache_retention".split(
      " ",
    ),
    ..."reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice".split(" "),
    ..."tools top_logprobs top_p truncation user".split(" "),
  ]),
  completions: new Set([
    ..."best_of echo frequency_penalty logit_bias logprobs max_tokens model n presence_penalty prompt seed".split(" "),
    ..."stop stream stream_options suffix temperature top_p user".split(" "),
  ]),
};

/** Tools that the caller runs, and those that cost only tokens. A route must name tools that the vendor runs. */
const commonTools: ReadonlySet<string> = new Set([
  ..."custom function namespace".split(" "),
  ..."bash text_editor str_replace_based_edit_tool memory computer browser_toolset computer_toolset".split(" "),
  ..."tool_search_tool_regex tool_search_tool_bm25 tool_search".split(" "),
  ..."apply_patch computer_use_preview local_shell".split(" "),
]);

const datePattern = /_(?:\d{8}|\d{4}_\d{2}_\d{2})$/;

/** The first field or tool of a native request that its route does not name but must. */
export function findNativeObstacle(
  { wire, body }: NativeRequest,
  passthrough: readonly string[] = [],
): ChatObstacle | null {
  for (const field in body) {
    if (commonFields[wire].has(field) || passthrough.includes(field)) continue;
    if (isNeutral(body[field])) continue;
    return { param: field, message: `\`${field}\` is not supported by this model.` };
  }
  // Those of an outline are the caller's.
  if (isUnread(body, "tools")) return null;
  const tools = Array.isArray(body.tools) ? body.tools : [];
  for (const [index, tool] of tools.entries()) {
    const type = asRecord(tool)?.type;
    if (typeof type !== "string") continue;
    if (isCallersTool(type) || passthrough.includes(type.replace(datePattern, ""))) continue;
    return { param: `tools[${index}]`, message: `This model does not have the tool ${type}.` };
  }
  return null;
}

/** Whether the caller runs a tool of this type, or it costs only tokens. */
export function isCallersTool(type: string): boolean {
  return commonTools.has(type) || commonTools.has(type.replace(datePattern, ""));
}

/** Values that ask for the default. */
function isNeutral(value: unknown): boolean {
  return value === undefined || value === null || value === "standard" || (Array.isArray(value) && value.length === 0);
}
