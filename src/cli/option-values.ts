import type { Account, KeyRestrictions } from "../features/accounts/index.ts";
import { budgetPeriods } from "../lib/budget.ts";
import { parseMoney } from "../lib/money.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command } from "./command.ts";
import { systemDependencies } from "./system-dependencies.ts";

type Options = Readonly<Record<string, string | undefined>>;
type Limits = Account["limits"];

/** Removes a restriction. */
const none = "none";

export const limitOptions = {
  "requests-per-minute": {
    placeholder: "number",
    description: "Maximum requests per minute; none removes the limit.",
  },
  "tokens-per-minute": { placeholder: "number", description: "Maximum tokens per minute; none removes the limit." },
  "concurrent-requests": {
    placeholder: "number",
    description: "Maximum concurrent chat requests; none removes the limit.",
  },
  "tasks-in-flight": { placeholder: "number", description: "Maximum concurrent tasks; none removes the limit." },
} satisfies Command["options"];

const limitNames = {
  "requests-per-minute": "requestsPerMinute",
  "tokens-per-minute": "tokensPerMinute",
  "concurrent-requests": "concurrentRequests",
  "tasks-in-flight": "tasksInFlight",
} as const satisfies Record<keyof typeof limitOptions, keyof Limits>;

export const restrictionOptions = {
  expires: { placeholder: "time", description: "When it expires, such as 2027-01-01T00:00:00Z; none for never." },
  models: { placeholder: "ids", description: "Allowed models, comma-separated; none for all." },
  endpoints: { placeholder: "names", description: "Allowed endpoints, comma-separated; none for all." },
  addresses: {
    placeholder: "networks",
    description: "Allowed networks, comma-separated; none for all.",
  },
  budget: { placeholder: "amount", description: "The budget per period; none for no limit." },
  "budget-period": { placeholder: "word", description: `When the budget resets: ${budgetPeriods.join(", ")}.` },
  ...limitOptions,
} satisfies Command["options"];

/** Applies the options to the current limits. */
export function readLimits(options: Options, current: Limits): Limits {
  const limits: Limits = { ...current };
  for (const [option, name] of Object.entries(limitNames)) {
    const value = options[option];
    if (value === undefined) continue;
    if (value === none) delete limits[name];
    else limits[name] = readNumber(option, value);
  }
  return limits;
}

/** Applies the options to the current restrictions. */
export function readRestrictions(options: Options, current: KeyRestrictions): Partial<KeyRestrictions> {
  return {
    ...(options.expires === undefined ? {} : { expiresAt: readTime(options.expires) }),
    ...(options.models === undefined ? {} : { modelIds: readList(options.models) }),
    ...(options.endpoints === undefined ? {} : { endpoints: readList(options.endpoints) }),
    ...(options.addresses === undefined ? {} : { addresses: readList(options.addresses) }),
    ...readBudget(options, current),
    limits: readLimits(options, current.limits),
  };
}

function readBudget(options: Options, current: KeyRestrictions): Partial<KeyRestrictions> {
  if (options.budget === undefined && options["budget-period"] === undefined) return {};
  if (options.budget === none) return { budget: null };
  const amount = options.budget === undefined ? (current.budget?.amount ?? null) : parseMoney(options.budget);
  const period = budgetPeriods.find((word) => word === (options["budget-period"] ?? current.budget?.period ?? "total"));
  if (amount === null) throw createWrongValue("budget", "a decimal with at most nine places, such as 10.00");
  if (period === undefined) throw createWrongValue("budget-period", `one of ${budgetPeriods.join(", ")}`);
  return { budget: { amount, period } };
}

export function readNumber(option: string, value: string): number {
  if (/^\d{1,10}$/.test(value)) return Number(value);
  throw createWrongValue(option, "a whole number, or none");
}

export function readTime(value: string, option = "expires"): Date | null {
  if (value === none) return null;
  const time = parseTimestamp(value);
  if (time !== null) return time;
  throw createWrongValue(option, "a time with its offset, such as 2027-01-01T00:00:00Z, or none");
}

/** Reads an option with a single allowed value. */
export function readWord(option: string, value: string | undefined, word: string): boolean {
  if (value === undefined || value === word) return value === word;
  throw createWrongValue(option, `${word} or absent`);
}

function readList(value: string): string[] | null {
  return value === none
    ? null
    : value
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "");
}

export function createWrongValue(option: string, expected: string): AppError {
  return new AppError("invalid_parameter", `--${option} must be ${expected}.`, { param: option });
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The end of something that lasts: a duration from now, or a time. */
export function readEnd(option: string, text: string): Date {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) {
    return new Date(systemDependencies.clock.now().getTime() + Number(count) * unitMs[unit as keyof typeof unitMs]);
  }
  const time = parseTimestamp(text);
  if (time !== null) return time;
  throw createWrongValue(option, "a duration such as 30m, 2h or 7d, or a time such as 2027-01-01T00:00:00Z");
}
