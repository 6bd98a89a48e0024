import type { UpstreamHeaders } from "../platform/net/upstream-call.ts";

/** A rate limit as a vendor's response states it; `null` for what it leaves out. */
export type VendorLimit = { name: string; most: number | null; remaining: number | null; resetsAt: Date | null };

type Part = "limit" | "remaining" | "reset";

/** `x-ratelimit-remaining-tokens`, `ratelimit-reset`, `x-tokenlimit-limit`, and Anthropic's `…-input-tokens-remaining`. */
const usualPattern = /^(?:x-)?(rate|token)limit-(limit|remaining|reset)(?:-([a-z0-9-]{1,32}))?$/;
const anthropicPattern = /^anthropic-ratelimit-([a-z0-9-]{1,32})-(limit|remaining|reset)$/;

const limitsMax = 8;
const countMax = Number.MAX_SAFE_INTEGER;

/** The rate limits in the headers of a response that arrived at `now`. */
export function readVendorLimits(headers: UpstreamHeaders, now: Date): VendorLimit[] {
  const limits = new Map<string, VendorLimit>();
  for (const [header, value] of Object.entries(headers)) {
    if (typeof value !== "string" || !header.includes("limit-")) continue;
    const place = findPlace(header);
    if (place === null || (limits.size === limitsMax && !limits.has(place.name))) continue;
    const limit = limits.get(place.name) ?? { name: place.name, most: null, remaining: null, resetsAt: null };
    limits.set(place.name, limit);
    if (place.part === "limit") limit.most = readCount(value);
    else if (place.part === "remaining") limit.remaining = readCount(value);
    else limit.resetsAt = readReset(value.trim(), now);
  }
  return [...limits.values()].filter(({ most, remaining }) => most !== null || remaining !== null);
}

function findPlace(header: string): { name: string; part: Part } | null {
  const anthropic = anthropicPattern.exec(header);
  if (anthropic !== null) return { name: anthropic[1] ?? "", part: anthropic[2] as Part };
  const usual = usualPattern.exec(header);
  if (usual === null) return null;
  return { name: usual[3] ?? (usual[1] === "token" ? "tokens" : "requests"), part: usual[2] as Part };
}

function readCount(text: string): number | null {
  const count = /^\s*\d{1,16}(?:\.\d+)?\s*$/.test(text) ? Math.floor(Number(text)) : Number.NaN;
  return count <= countMax ? count : null;
}

const msByUnit: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const durationPattern = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
/** Later is a mistake. */
const resetMsMax = 366 * 86_400_000;
const epochSecondsMin = 1e9;
const epochMsMin = 1e12;

/** A time, seconds, or a duration such as `6m0s`; numbers above a billion are Unix times. */
function readReset(text: string, now: Date): Date | null {
  const at = readResetMs(text, now.getTime());
  return at === null || Math.abs(at - now.getTime()) > resetMsMax ? null : new Date(at);
}

function readResetMs(text: string, nowMs: number): number | null {
  if (/^\d{1,15}(?:\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number >= epochMsMin) return number;
    return number >= epochSecondsMin ? number * 1000 : nowMs + number * 1000;
  }
  if (durationPattern.test(text)) {
    const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g);
    return [...parts].reduce((sum, [, number, unit]) => sum + Number(number) * (msByUnit[unit ?? ""] ?? 0), nowMs);
  }
  const at = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
