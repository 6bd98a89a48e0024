import type { LimitSet } from "../../lib/limit-set.ts";
import type { Quotas } from "../../lib/plan-terms.ts";
import { AppError } from "../../platform/errors/app-error.ts";

const nameCharactersMax = 100;
const limitMax = 1_000_000_000;

/** The name without spaces around it, or an error that says what a name is. */
export function requireName(name: string): string {
  const trimmed = name.trim();
  // A line break or a null character is no part of a name, and the database does not take every one of them.
  const isOneLine = !/\p{Cc}/u.test(trimmed);
  if (trimmed !== "" && trimmed.length <= nameCharactersMax && isOneLine) return trimmed;
  throw new AppError("invalid_parameter", `A name has 1 to ${nameCharactersMax} characters.`, { param: "name" });
}

/** Keys that are named so are those of programs that were connected through a browser, and no others. */
export const clientKeyPrefix = "BA:";

/** The name of a key that a person makes. */
export function requireKeyName(name: string): string {
  const trimmed = requireName(name);
  if (!trimmed.startsWith(clientKeyPrefix)) return trimmed;
  const message = `A name that begins with ${clientKeyPrefix} is for a program that is connected through a browser.`;
  throw new AppError("invalid_parameter", message, { param: "name" });
}

/** A plan's quotas fit into a number on the wire many times over. */
const quotaMax = 1_000_000_000_000n;

export function requireQuotas(quotas: Quotas): void {
  for (const [kind, units] of Object.entries(quotas)) {
    if (units >= 0n && units <= quotaMax) continue;
    throw new AppError("invalid_parameter", `A quota is a whole number from 0 to ${quotaMax}.`, {
      param: `${kind}_quota`,
    });
  }
}

export function requireLimits(limits: Partial<LimitSet>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isInteger(value) && value >= 1 && value <= limitMax) continue;
    const param = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    throw new AppError("invalid_parameter", `A limit is a whole number from 1 to ${limitMax}.`, { param });
  }
}

/** A name of a place, or `UTC`; an offset would be wrong for half of the year. */
export function requireTimeZone(name: string): void {
  if (/^[a-z]/i.test(name) && isKnownTimeZone(name)) return;
  const message = "The time zone must be a name like `Europe/Berlin` or `UTC`.";
  throw new AppError("invalid_parameter", message, { param: "time_zone" });
}

/** Many zones have two names, of which browsers send one and the runtime lists the other; it knows both when asked. */
function isKnownTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    // It throws for a name that it does not know, and has no other way to tell.
    return false;
  }
}
