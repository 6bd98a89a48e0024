import { AppError } from "../../platform/errors/app-error.ts";

/** Where a chat message came from in the caller's request. */
export type MessagePlace = {
  /** Such as `messages[3]`, `system`, or `messages[3].content[0]` for a tool result. */
  path: string;
  /** The paths of its parts, if any. */
  parts: readonly string[];
  /** The paths of its tool calls. */
  calls: readonly string[];
};

/** Chat fields and their names in the Messages API, except those inside messages. */
const names: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^max_completion_tokens$/, "max_tokens"],
  [/^stop$/, "stop_sequences"],
  [/^user$/, "metadata.user_id"],
  [/^reasoning_effort$/, "thinking"],
  [/^parallel_tool_calls$/, "tool_choice.disable_parallel_tool_use"],
  [/^response_format\.json_schema\.schema/, "output_config.format.schema"],
  [/^response_format/, "output_config.format"],
  [/^tool_choice\.function/, "tool_choice"],
  [/^tools\[(\d+)\]\.function\.parameters/, "tools[$1].input_schema"],
  [/^tools\[(\d+)\]\.function/, "tools[$1]"],
];

/** The ends of paths inside messages. */
const ends: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^\.(?:image_url|file)\b.*$/, ".source"],
  [/^\.function\.arguments$/, ".input"],
  [/^\.function\.name$/, ".name"],
];

/** Translates the path of a chat field, such as `messages[4].content[0].image_url.url`, to the caller's request. */
export function translatePlace(param: string, places: readonly MessagePlace[]): string {
  const [, index, rest = ""] = /^messages\[(\d+)\](.*)$/.exec(param) ?? [];
  const place = index === undefined ? undefined : places[Number(index)];
  if (place === undefined) return rename(param, names);
  const [, list, position, end = ""] = /^\.(content|tool_calls)\[(\d+)\](.*)$/.exec(rest) ?? [];
  const inner = list === undefined ? undefined : place[list === "content" ? "parts" : "calls"][Number(position)];
  if (inner !== undefined) return inner + rename(end, ends);
  if (rest === ".tool_call_id") return `${place.path}.tool_use_id`;
  return place.path + (rest === ".content" && place.path !== "system" ? rest : "");
}

function rename(text: string, table: typeof names): string {
  const found = table.find(([pattern]) => pattern.test(text));
  return found === undefined ? text : text.replace(...found);
}

/** The same error with the caller's field names, in its message too. */
export function translateError(error: AppError, places: readonly MessagePlace[]): AppError {
  const { code, param, message, headers, detail, cause } = error;
  if (param === null) return error;
  const place = translatePlace(param, places);
  if (place === param) return error;
  const options = { param: place, headers, cause, ...(detail === undefined ? {} : { detail }) };
  return new AppError(code, message.replaceAll(param, place), options);
}
