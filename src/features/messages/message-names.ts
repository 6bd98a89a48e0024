import type { CallersNames } from "../chat/index.ts";

/** Chat fields and their names in the Messages API. */
export const messageNames: CallersNames = {
  fields: [
    [/^max_completion_tokens$/, "max_tokens"],
    [/^stop$/, "stop_sequences"],
    [/^user$/, "metadata.user_id"],
    [/^reasoning_effort$/, "thinking"],
    [/^parallel_tool_calls$/, "tool_choice.disable_parallel_tool_use"],
    [/^response_format\.json_schema\.schema/, "output_config.format.schema"],
    [/^response_format/, "output_config.format"],
    [/^tool_choice\.function/, "tool_choice"],
  ],
  toolEnds: [
    [/^\.function\.parameters/, ".input_schema"],
    [/^\.function/, ""],
  ],
  innerEnds: [
    [/^\.(?:image_url|file)\b.*$/, ".source"],
    [/^\.function\.arguments$/, ".input"],
    [/^\.function\.name$/, ".name"],
  ],
  callId: "tool_use_id",
};

/** For requests with `output_config.effort`, which also becomes `reasoning_effort`. */
export const effortNames: CallersNames = {
  ...messageNames,
  fields: [[/^reasoning_effort$/, "output_config.effort"], ...messageNames.fields],
};
