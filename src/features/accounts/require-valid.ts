import type { LimitSet } from "../../lib/limit-set.ts";
import type { Quotas } from "../../lib/plan-terms.ts";
import { AppError } from "../../platform/errors/app-error.ts";

const nameCharactersMax = 100;
const limitMax = 1_000_000_000;

/** Returns the trimmed name. */
export function requireName(name: string): string {
  const trimmed = name.trim();
  // PostgreSQL rejects NUL in text; other control characters have no place in a name.
  const isOneLine = !/\p{Cc}/u.test(trimmed);
  if (trimmed !== "" && trimmed.length <= nameCharactersMax && isOneLine) return trimmed;
  throw new AppError(
    "invalid_parameter",
    `A name must have 1 to ${nameCharactersMax} characters, without control characters.`,
    { param: "name" },
  );
}

/** Reserved for keys of programs that were connected through a browser. */
export const clientKeyPrefix = "BA:";

export function requireKeyName(name: string): string {
  const trimmed = requireName(name);
  if (!trimmed.startsWith(clientKeyPrefix)) return trimmed;
  const message = `Names that begin with ${clientKeyPrefix} are reserved for connected programs. Choose another name.`;
  throw new AppError("invalid_parameter", message, { param: "name" });
}

/** Far below 2^53, so quotas are safe as JSON numbers. */
const quotaMax = 1_000_000_000_000n;

export function requireQuotas(quotas: Quotas): void {
  for (const [kind, units] of Object.entries(quotas)) {
    if (units >= 0n && units <= quotaMax) continue;
    throw new AppError("invalid_parameter", `A quota must be a whole number from 0 to ${quotaMax}.`, {
      param: `${kind}_quota`,
    });
  }
}

export function requireLimits(limits: Partial<LimitSet>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isInteger(value) && value >= 1 && value <= limitMax) continue;
    const param = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    throw new AppError("invalid_parameter", `A limit must be a whole number from 1 to ${limitMax}.`, { param });
  }
}

/** Only IANA names: a fixed offset would ignore daylight saving time. */
export function requireTimeZone(name: string): void {
  if (/^[a-z]/i.test(name) && isKnownTimeZone(name)) return;
  const message = "The time zone must be a name like `Europe/Berlin` or `UTC`.";
  throw new AppError("invalid_parameter", message, { param: "time_zone" });
}

/** `Intl.supportedValuesOf` lists one name per zone, but browsers may send an alias, so try to construct a format. */
function isKnownTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    // The constructor throws on unknown names.
    return false;
  }
}
