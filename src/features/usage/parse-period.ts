import { parseTimestamp } from "../../lib/timestamp.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { StatementRange } from "../ledger/index.ts";
import { findDay, findDayStart } from "./time-buckets.ts";

export type AskedPeriod = { from?: string | undefined; to?: string | undefined };

const dayMs = 24 * 60 * 60 * 1000;
const daysStandard = 30;
const daysMax = 400;
/** A chart with more hourly bars than a month has is unreadable. */
const daysByHourMax = 31;

/** An absent bound is open. */
export function parseRange(asked: AskedPeriod, timeZone: string): StatementRange {
  const from = parseMoment(asked.from, { param: "from", timeZone });
  const to = parseMoment(asked.to, { param: "to", timeZone });
  if (from !== null && to !== null && from >= to) throw createReversed("to");
  return { from, to };
}

/** Defaults to the last thirty days in the account's time zone, including today. */
export function parsePeriod(
  asked: AskedPeriod,
  { timeZone, now, cut }: { timeZone: string; now: Date; cut: "day" | "hour" | null },
): { from: Date; to: Date } {
  const range = parseRange(asked, timeZone);
  const to = range.to ?? findDayStart(findDay(now, timeZone).add({ days: 1 }), timeZone);
  const from = range.from ?? findDayStart(findDay(to, timeZone).subtract({ days: daysStandard }), timeZone);
  if (from >= to) throw createReversed("from");
  const days = cut === "hour" ? daysByHourMax : daysMax;
  // Allow for a 25-hour day.
  if (to.getTime() - from.getTime() > days * dayMs + dayMs / 24) {
    const kind = cut === "hour" ? " when grouped by hour" : "";
    throw new AppError("invalid_parameter", `The period must be at most ${days} days${kind}.`, { param: "from" });
  }
  return { from, to };
}

function createReversed(param: "from" | "to"): AppError {
  return new AppError("invalid_parameter", "`from` must be before `to`.", { param });
}

/** A day begins at midnight in the account's time zone. */
function parseMoment(text: string | undefined, { param, timeZone }: { param: string; timeZone: string }): Date | null {
  if (text === undefined) return null;
  const day = parseDay(text);
  const moment = day === null ? parseTimestamp(text) : findDayStart(day, timeZone);
  if (moment !== null) return moment;
  const examples = "a day such as 2026-11-01, or a time with offset such as 2026-11-01T12:00:00Z";
  throw new AppError("invalid_parameter", `\`${param}\` must be ${examples}.`, { param });
}

function parseDay(text: string): Temporal.PlainDate | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null;
  try {
    return Temporal.PlainDate.from(text);
  } catch {
    // No such day in that month; the caller rejects it as a timestamp.
    return null;
  }
}
