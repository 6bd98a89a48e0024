import { AppError } from "../../../platform/errors/app-error.ts";

/** The parsed `Prefer` header. */
export type Preference = {
  /** `null` without a `wait` preference. */
  waitMs: number | null;
  isAsync: boolean;
};

const waitSecondsMax = 60;

/** RFC 7240 requires ignoring unknown preferences; a malformed wait is an error. */
export function parsePrefer(header: string | string[] | undefined): Preference {
  const preferences = [header ?? []]
    .flat()
    .join(",")
    .split(/[,;]/)
    .map((text) => text.trim().toLowerCase());
  const wait = preferences.find((text) => /^wait\s*=/.test(text));
  return {
    waitMs: wait === undefined ? null : parseWait(wait.slice(wait.indexOf("=") + 1).trim()) * 1000,
    isAsync: preferences.includes("respond-async"),
  };
}

function parseWait(text: string): number {
  const seconds = Number(text.replace(/^"(.*)"$/, "$1"));
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= waitSecondsMax && text !== "") return seconds;
  throw new AppError("invalid_parameter", `\`Prefer: wait=N\` takes whole seconds from 0 to ${waitSecondsMax}.`, {
    param: "Prefer",
  });
}
