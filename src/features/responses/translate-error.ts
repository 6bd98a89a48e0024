import { AppError } from "../../platform/errors/app-error.ts";

/** What a field of chat is called by whoever speaks this wire. */
const names: readonly [chat: string, here: string][] = [
  ["max_completion_tokens", "max_output_tokens"],
  ["reasoning_effort", "reasoning.effort"],
  ["response_format", "text.format"],
  ["verbosity", "text.verbosity"],
];

const messagePattern = /^messages\[(\d+)\]/;

/** An error about the request in the form of chat, told about the request that its caller wrote. */
export function translateError(error: AppError, places: readonly string[]): AppError {
  if (error.param === null) return error;
  const param = translatePlace(error.param, places);
  const message = names.reduce((text, [chat, here]) => text.replaceAll(`\`${chat}\``, `\`${here}\``), error.message);
  if (param === error.param && message === error.message) return error;
  const { code, headers, detail, cause } = error;
  return new AppError(code, message, { param, headers, cause, ...(detail === undefined ? {} : { detail }) });
}

function translatePlace(param: string, places: readonly string[]): string {
  const at = messagePattern.exec(param)?.[1];
  if (at !== undefined) return places[Number(at)] ?? "input";
  if (param === "messages") return "input";
  const tool = /^(tools\[\d+\])\.(?:function|custom)(.*)$/.exec(param);
  if (tool !== null) return `${tool[1]}${tool[2]}`;
  const found = names.find(([chat]) => param === chat || param.startsWith(`${chat}.`));
  return found === undefined ? param : `${found[1]}${param.slice(found[0].length)}`;
}
