import type { ApiKey } from "../../api/fetch-keys.ts";
import type { BadgeKind } from "../../design/badge.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import { measureShare } from "../../parts/format/measure-share.ts";

type Limits = ApiKey["limits"];
export type LimitName = keyof Limits;
export type BudgetPeriod = NonNullable<ApiKey["budget"]>["period"];

const dayMs = 24 * 60 * 60_000;
const soonMs = 7 * dayMs;
const namedMax = 2;

/** Endpoint scopes, and their display names. */
export const endpointNames: Readonly<Record<string, string>> = {
  chat: "Chat",
  images: "Images",
  videos: "Videos",
  avatars: "Avatars",
  dramas: "Dramas",
  speech: "Speech",
  embeddings: "Embeddings",
  transcriptions: "Transcriptions",
  tasks: "Tasks",
  files: "Files",
  webhooks: "Webhooks and events",
  models: "Models",
  pricing: "Prices",
  quotes: "Quotes",
  balance: "Balance and statement",
  usage: "Usage and charges",
  contents: "Contents of requests",
};

export const limitNames: Readonly<Record<LimitName, string>> = {
  requests_per_minute: "Requests per minute",
  tokens_per_minute: "Tokens per minute",
  concurrent_requests: "Concurrent chat calls",
  tasks_in_flight: "Concurrent tasks",
};

export const periodNames: Readonly<Record<BudgetPeriod, string>> = {
  month: "a month",
  week: "a week",
  day: "a day",
  total: "in all",
};

export const kindNames: Readonly<Record<ApiKey["kind"], string | null>> = {
  secret: null,
  client: "Connected program",
  console: "This console",
};

/** Restrictions in a few words; empty for full access. */
export function listRestrictions({ models, endpoints, addresses, limits }: ApiKey): string[] {
  const limitCount = Object.values(limits).filter((limit) => limit !== null).length;
  return [
    ...(models === null ? [] : [nameFew(models, "models")]),
    ...(endpoints === null ? [] : [nameFew(endpoints.map(nameEndpoint), "endpoints")]),
    ...(addresses === null ? [] : [nameFew(addresses, "addresses")]),
    ...(limitCount === 0 ? [] : [limitCount === 1 ? "1 limit" : `${limitCount} limits`]),
  ];
}

export function nameEndpoint(scope: string): string {
  return endpointNames[scope] ?? scope;
}

function nameFew(names: readonly string[], noun: string): string {
  return names.length <= namedMax ? names.join(", ") : `${names.length} ${noun}`;
}

export function listLimits(limits: Limits): string[] {
  return Object.entries(limits).flatMap(([name, limit]) =>
    // Object.entries widens the names.
    limit === null ? [] : [`${limitNames[name as LimitName]}: ${formatCount(limit)}`],
  );
}

export function describeKeyStatus(key: ApiKey, now: Date): { kind: BadgeKind; name: string } {
  const { revoked_at: revokedAt, expires_at: expiresAt, budget } = key;
  if (revokedAt !== null) return { kind: "neutral", name: "Revoked" };
  const leftMs = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now.getTime();
  if (leftMs <= 0) return { kind: "neutral", name: "Expired" };
  if (budget !== null && measureShare(budget.spent, budget.amount) === 100) {
    return { kind: "warning", name: "Budget exceeded" };
  }
  return leftMs < soonMs ? { kind: "warning", name: "Expires soon" } : { kind: "good", name: "Active" };
}

/** Expired or revoked: read-only. */
export function isEnded({ revoked_at, expires_at }: ApiKey, now: Date): boolean {
  return revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= now.getTime());
}

export function describeDays(days: number): string {
  return days === 1 ? "a day" : `${formatCount(days)} days`;
}

/** Unix seconds to an ISO timestamp. */
export function toMoment(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** The `key` search parameter while creating a key. */
export const newKey = "new";
