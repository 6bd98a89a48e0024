import { AppError } from "../../../platform/errors/app-error.ts";

/** What a client asks for by the `Prefer` header. */
export type Preference = {
  /** `null` where nothing is said of waiting. */
  waitMs: number | null;
  isAsync: boolean;
};

const waitSecondsMax = 60;

/** Preferences that nobody knows are ignored, as the header's standard says; a wait that is no number is a mistake. */
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
