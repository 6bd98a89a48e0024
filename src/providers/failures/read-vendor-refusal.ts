import { ProviderError, type ProviderErrorKind } from "../contract.ts";
import { asRecord } from "../openai-compatible/json-value.ts";
import { readVendorWords, type VendorWords } from "./read-vendor-words.ts";
import { type RefusalRule, refusalRules } from "./refusal-rules.ts";

export type VendorRefusal = {
  /** The HTTP status; below 300 if the error is in place of an answer. */
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As parsed by `parseRefusal`. */
  body: unknown;
};

export type ReadOptions = {
  now: Date;
  /** The customer's name of the field at fault, if the vendor names one. Called only for invalid requests. */
  findParam(words: VendorWords): string | null;
};

/** Classifies an upstream's error response: the only place that interprets vendors' wording. */
export function readVendorRefusal(refusal: VendorRefusal, { now, findParam }: ReadOptions): ProviderError {
  const words = readVendorWords(refusal.body);
  const status = refusal.status >= 300 ? refusal.status : words.status;
  const type = readErrorType(refusal.headers);
  const { kind, isIsolated = false } = judge(
    status,
    type === "" ? words : { ...words, words: `${words.words} ${type.toLowerCase()}` },
  );
  return new ProviderError(kind, describe(refusal.status), {
    param: kind === "rejected" ? findParam(words) : null,
    retryAfterMs: mayReturn.has(kind) ? readRetryMs(refusal, now) : null,
    isIsolated,
    detail: { status: refusal.status, code: words.code || type, message: words.message },
  });
}

function describe(status: number): string {
  return status >= 300
    ? `The upstream returned an error with status ${status}.`
    : "The upstream returned an error in its response.";
}

function judge(status: number | null, words: VendorWords): Pick<RefusalRule, "kind" | "isIsolated"> {
  const rule = refusalRules.find((one) => matches(one, status, words));
  if (rule !== undefined) return rule;
  const isSaid = words.words !== "" || words.message !== "";
  if (status === null) return { kind: isSaid ? "overloaded" : "bad-answer" };
  if (status < 400) return { kind: "bad-answer" };
  // A proxy's page says nothing about the request.
  return { kind: isSaid && (status === 400 || status === 422) ? "rejected" : "unexplained" };
}

function matches({ statuses, words, message }: RefusalRule, status: number | null, said: VendorWords): boolean {
  if (typeof statuses === "function" ? !statuses(status) : statuses?.includes(status) === false) return false;
  return (words === undefined || words.test(said.words)) && (message === undefined || message.test(said.message));
}

/** The kinds whose upstreams may send a retry time. */
const mayReturn: ReadonlySet<ProviderErrorKind> = new Set(["rate-limited", "quota-exceeded", "overloaded"]);

const retryMsMax = 24 * 60 * 60 * 1000;
/** A daily quota is not restored after a minute, whatever the upstream says. */
const dailyQuotaRetryMs = 60 * 60 * 1000;

function readRetryMs({ headers, body }: VendorRefusal, now: Date): number | null {
  const asked = [
    ...listDelaysMs(asRecord(asRecord(body)?.error)?.details),
    readNumber(readHeader(headers, "retry-after-ms"), 1) ??
      readNumber(readHeader(headers, "retry-after"), 1000) ??
      readDate(readHeader(headers, "retry-after"), now),
  ].filter((waitMs) => waitMs !== null);
  return asked.length === 0 ? null : Math.min(Math.ceil(Math.max(...asked)), retryMsMax);
}

/** Google puts it in the body. */
function listDelaysMs(details: unknown): number[] {
  if (!Array.isArray(details)) return [];
  return details.map(asRecord).flatMap((detail) => {
    const { retryDelay, violations } = detail ?? {};
    const [, seconds = null] = /^(\d{1,6}(?:\.\d+)?)s$/.exec(String(retryDelay)) ?? [];
    const isDaily =
      Array.isArray(violations) && violations.some((one) => /PerDay/i.test(String(asRecord(one)?.quotaId)));
    return [...(seconds === null ? [] : [Number(seconds) * 1000]), ...(isDaily ? [dailyQuotaRetryMs] : [])];
  });
}

/** fal and AWS put the type of an error in a header; AWS appends an address. */
function readErrorType(headers: VendorRefusal["headers"]): string {
  const [type = ""] = (readHeader(headers, "x-fal-error-type") || readHeader(headers, "x-amzn-errortype")).split(":");
  return type;
}

function readHeader(headers: VendorRefusal["headers"], name: string): string {
  return [headers[name]].flat()[0] ?? "";
}

function readNumber(text: string, unitMs: number): number | null {
  return /^\d{1,12}(?:\.\d{1,6})?$/.test(text) ? Number(text) * unitMs : null;
}

function readDate(text: string, now: Date): number | null {
  const at = text.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
