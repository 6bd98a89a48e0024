import type { CallersNames } from "../chat/index.ts";

/** Chat fields and their names in the Responses API. */
export const responseNames: CallersNames = {
  fields: [
    [/^messages$/, "input"],
    [/^max_completion_tokens$/, "max_output_tokens"],
    [/^reasoning_effort$/, "reasoning.effort"],
    [/^response_format(?:\.json_schema)?/, "text.format"],
    [/^verbosity$/, "text.verbosity"],
    [/^logprobs$/, "include"],
    [/^tool_choice\.(?:function|custom|allowed_tools)/, "tool_choice"],
  ],
  toolEnds: [[/^\.(?:function|custom)/, ""]],
  innerEnds: [
    [/^\.image_url\.url$/, ".image_url"],
    [/^\.(?:image_url|file|function|custom)\./, "."],
  ],
  callId: "call_id",
};
