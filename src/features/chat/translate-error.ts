import { AppError } from "../../platform/errors/app-error.ts";

/** Where a chat message came from in the caller's request. */
export type MessagePlace = {
  /** Such as `messages[3]`, `system`, `input[2]`, or `messages[3].content[0]` for a tool result. */
  path: string;
  /** The path of its content: `messages[3].content`, or `system` itself. */
  content: string;
  /** The paths of its parts, if any. */
  parts: string[];
  /** The paths of its tool calls. */
  calls: string[];
};

type Renames = readonly (readonly [pattern: RegExp, name: string])[];

/** Chat fields and their names in another API. */
export type CallersNames = {
  /** Fields outside messages and tools. */
  fields: Renames;
  /** The ends of paths inside a tool. */
  toolEnds: Renames;
  /** The ends of paths inside a part or tool call. */
  innerEnds: Renames;
  /** The field of a tool result that names its call. */
  callId: string;
};

/** The places of a chat request in the request of another API that it was translated from. */
export type CallersPlaces = {
  messages: readonly MessagePlace[];
  /** The paths of the tools: one of the caller's tools may be no tool of the chat request, or several. */
  tools: readonly string[];
  names: CallersNames;
};

/** An error that already names the caller's own field. */
export class CallersFieldError extends AppError {}

const pathPattern = /`([a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*)`|[a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*/g;

/** The same error with the caller's field names, in its message too. */
export function translateError(error: AppError, places: CallersPlaces): AppError {
  const { code, param, headers, detail, cause } = error;
  if (param === null || error instanceof CallersFieldError) return error;
  const place = translatePlace(param, places);
  const message = error.message.replaceAll(pathPattern, (text, quoted?: string) => {
    if (quoted !== undefined) return `\`${translatePlace(quoted, places)}\``;
    return text === param ? place : text;
  });
  if (place === param && message === error.message) return error;
  return new AppError(code, message, { param: place, headers, cause, ...(detail === undefined ? {} : { detail }) });
}

/** Translates the path of a chat field, such as `messages[4].content[0].image_url.url`, to the caller's request. */
function translatePlace(param: string, places: CallersPlaces): string {
  const { messages, tools, names } = places;
  const [, root, index, rest = ""] = /^(messages|tools)\[(\d+)\](.*)$/.exec(param) ?? [];
  if (root === "tools") return (tools[Number(index)] ?? `tools[${index}]`) + rename(rest, names.toolEnds);
  const place = root === undefined ? undefined : messages[Number(index)];
  if (place === undefined) return rename(param, names.fields);
  const [, list, position, end = ""] = /^\.(content|tool_calls)\[(\d+)\](.*)$/.exec(rest) ?? [];
  const inner = list === undefined ? undefined : place[list === "content" ? "parts" : "calls"][Number(position)];
  if (inner !== undefined) return inner + rename(end, names.innerEnds);
  if (rest === ".tool_call_id") return `${place.path}.${names.callId}`;
  return rest.startsWith(".content") ? place.content : place.path;
}

function rename(text: string, table: Renames): string {
  const found = table.find(([pattern]) => pattern.test(text));
  return found === undefined ? text : text.replace(...found);
}
