import type { ApiKey } from "../../api/fetch-keys.ts";
import { findDayEnd } from "../../parts/format/find-day-end.ts";
import type { BudgetPeriod, LimitName } from "./key-labels.ts";

/** Form state: text as typed, lists as ticked. */
export type KeyValues = {
  name: string;
  /** `keep`, `never`, a number of days, or `date` for the end of `expiryDate`. */
  expiry: string;
  expiryDate: string;
  budgetAmount: string;
  budgetPeriod: string;
  isModelsLimited: boolean;
  models: string[];
  isEndpointsLimited: boolean;
  endpoints: string[];
  addresses: string;
  logsContent: boolean;
} & Record<LimitName, string>;

/** The API's body with every restriction set. */
export type KeyBody = {
  name: string;
  expires_at?: string | null;
  budget: { amount: string; period: BudgetPeriod } | null;
  models: string[] | null;
  endpoints: string[] | null;
  addresses: string[] | null;
  limits: Record<LimitName, number | null>;
  content_log: boolean;
};

export type KeyFieldProps = {
  values: KeyValues;
  change(part: Partial<KeyValues>): void;
  errorAt(field: string): string | null;
};

export type KeyProblems = Readonly<Record<string, string>>;

const dayMs = 24 * 60 * 60_000;
const limitMax = 1_000_000_000;

export const emptyKeyValues: KeyValues = {
  name: "",
  expiry: "never",
  expiryDate: "",
  budgetAmount: "",
  budgetPeriod: "month",
  isModelsLimited: false,
  models: [],
  isEndpointsLimited: false,
  endpoints: [],
  addresses: "",
  logsContent: false,
  requests_per_minute: "",
  tokens_per_minute: "",
  concurrent_requests: "",
  tasks_in_flight: "",
};

/** The form's values for an existing key. */
export function fillKeyValues(apiKey: ApiKey): KeyValues {
  const { name, expires_at, budget, models, endpoints, addresses, limits } = apiKey;
  const limitTexts = Object.entries(limits).map(([limit, value]) => [limit, value === null ? "" : String(value)]);
  return {
    ...emptyKeyValues,
    ...Object.fromEntries(limitTexts),
    name,
    expiry: expires_at === null ? "never" : "keep",
    ...(budget === null ? {} : { budgetAmount: budget.amount, budgetPeriod: budget.period }),
    isModelsLimited: models !== null,
    models: models ?? [],
    isEndpointsLimited: endpoints !== null,
    endpoints: endpoints ?? [],
    addresses: addresses?.join("\n") ?? "",
    logsContent: apiKey.content_log,
  };
}

/** Returns the body, or problems by field. The API validates the rest and reports it at the same fields. */
export function readKeyValues(
  values: KeyValues,
  { now, timeZone }: { now: Date; timeZone: string },
): { body: KeyBody; problems: null } | { body: null; problems: KeyProblems } {
  const problems: Record<string, string> = {};
  if (values.name.trim() === "") problems.name = "Give the key a name.";
  if (values.isModelsLimited && values.models.length === 0) {
    problems.models = "Choose at least one model, or allow all of them.";
  }
  if (values.isEndpointsLimited && values.endpoints.length === 0) {
    problems.endpoints = "Choose at least one endpoint, or allow all of them.";
  }
  if (values.expiry === "date" && Number.isNaN(Date.parse(values.expiryDate))) {
    problems.expires_at = "Choose the last day on which the key works.";
  }
  const limits = readLimits(values, problems);
  if (Object.keys(problems).length > 0) return { body: null, problems };
  const lines = values.addresses.split(/[\s,]+/).filter((line) => line !== "");
  const body: KeyBody = {
    name: values.name.trim(),
    ...(values.expiry === "keep" ? {} : { expires_at: readExpiry(values, { now, timeZone }) }),
    budget: readBudget(values),
    models: values.isModelsLimited ? values.models : null,
    endpoints: values.isEndpointsLimited ? values.endpoints : null,
    addresses: lines.length === 0 ? null : lines,
    limits,
    content_log: values.logsContent,
  };
  return { body, problems: null };
}

/** Returns only the changed fields: unchanged ones need no reauthentication. */
export function listKeyChanges(before: KeyBody, after: KeyBody): Partial<KeyBody> {
  const isChanged = (name: string) =>
    JSON.stringify(before[name as keyof KeyBody]) !== JSON.stringify(after[name as keyof KeyBody]);
  return Object.fromEntries(Object.entries(after).filter(([name]) => isChanged(name)));
}

function readExpiry({ expiry, expiryDate }: KeyValues, { now, timeZone }: { now: Date; timeZone: string }) {
  if (expiry === "never") return null;
  const end = expiry === "date" ? findDayEnd(expiryDate, timeZone) : new Date(now.getTime() + Number(expiry) * dayMs);
  return end.toISOString();
}

function readBudget({ budgetAmount, budgetPeriod }: KeyValues): KeyBody["budget"] {
  const amount = budgetAmount.trim();
  // The select offers only valid periods.
  return amount === "" ? null : { amount, period: budgetPeriod as BudgetPeriod };
}

function readLimits(values: KeyValues, problems: Record<string, string>): KeyBody["limits"] {
  const readOne = (name: LimitName): number | null => {
    const text = values[name].trim();
    if (text === "") return null;
    const limit = /^\d+$/.test(text) ? Number(text) : 0;
    if (limit < 1 || limit > limitMax)
      problems[`limits.${name}`] = "Use a whole number from 1 to 1,000,000,000, or leave it empty.";
    return limit;
  };
  return {
    requests_per_minute: readOne("requests_per_minute"),
    tokens_per_minute: readOne("tokens_per_minute"),
    concurrent_requests: readOne("concurrent_requests"),
    tasks_in_flight: readOne("tasks_in_flight"),
  };
}
