import type { Clock } from "../../lib/clock.ts";
import { ProviderError, type ProviderErrorKind } from "../contract.ts";
import { asRecord } from "./json-value.ts";

export type UpstreamRefusal = {
  /** Of HTTP; below 300 when the error stands where an answer should. */
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body, or `undefined` where it is no JSON. */
  body: unknown;
  clock: Clock;
};

const messageCharactersMax = 500;
const retryAfterMsMax = 24 * 60 * 60 * 1000;

/** What an upstream's refusal means for us. */
export function readUpstreamError({ status, headers, body, clock }: UpstreamRefusal): ProviderError {
  const said = readSaid(body);
  const kind = decideKind(status, said);
  const detail = { status, code: said.code || said.type, message: said.message.slice(0, messageCharactersMax) };
  return new ProviderError(kind, `The upstream refused with status ${status}.`, {
    param: kind === "rejected" ? readParam(said.param) : null,
    retryAfterMs: kind === "rate-limited" || kind === "overloaded" ? readRetryAfterMs(headers, clock) : null,
    detail,
  });
}

type Said = { code: string; type: string; message: string; param: unknown; isThere: boolean };

/** Errors are `{error: {…}}`, `{error: "…"}`, bare, in a list, or with a `detail`, depending on who wrote the server. */
function readSaid(body: unknown): Said {
  const outer = asRecord(Array.isArray(body) ? body[0] : body);
  const inner = asRecord(outer?.error) ?? outer;
  const [message = ""] = [inner?.message, outer?.error, outer?.detail].filter((text) => isText(text));
  const { code, type, param } = inner ?? {};
  const isThere = message !== "" || isText(code) || isText(type);
  return {
    code: isText(code) || typeof code === "number" ? String(code) : "",
    type: isText(type) ? type : "",
    message: isText(message) ? message : "",
    param,
    isThere,
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

const accountPattern =
  /insufficient_quota|credit_balance|billing|invalid_api_key|authentication|permission|model_not_found/;
const contentPattern = /content_?filter|content_?policy|moderation|data_?inspection|sensitive_?content|safety/;
const longPattern = /context_length_exceeded|string_above_max_length/;
const longMessagePattern =
  /maximum context length|context length|context window|prompt is too long|input is too long|too many (?:input )?tokens/i;
const missingModelPattern = /\b(?:model|deployment)\b.*\b(?:not exist|not found|no access)/i;

function decideKind(status: number, said: Said): ProviderErrorKind {
  const names = `${said.code} ${said.type}`.toLowerCase();
  if (status < 300) return decideKindWithoutStatus(names, said);
  if (accountPattern.test(names)) return "unauthorized";
  if (status === 401 || status === 402 || status === 403) return "unauthorized";
  if (status === 408) return "timeout";
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 409) return "overloaded";
  // A path or a model that is not there is our mistake, not the caller's.
  if (status === 404 && (!said.isThere || missingModelPattern.test(said.message))) return "unauthorized";
  if (![400, 404, 413, 422].includes(status)) return "bad-answer";
  if (longPattern.test(names) || longMessagePattern.test(said.message)) return "too-long";
  return contentPattern.test(names) ? "content-refused" : "rejected";
}

/** An error in place of an answer has no status of its own, but its code may be one. */
function decideKindWithoutStatus(names: string, said: Said): ProviderErrorKind {
  const code = Number(said.code);
  if (Number.isInteger(code) && code >= 400 && code < 600) return decideKind(code, said);
  if (accountPattern.test(names)) return "unauthorized";
  if (/rate_?limit/.test(names)) return "rate-limited";
  if (contentPattern.test(names)) return "content-refused";
  if (longPattern.test(names) || longMessagePattern.test(said.message)) return "too-long";
  return /invalid_request/.test(names) ? "rejected" : "overloaded";
}

const paramPattern = /^[a-z_]+(\[\d+\])?(\.[a-z_]+(\[\d+\])?)*$/;
const paramCharactersMax = 200;
/** What callers can have said; the model is not theirs but ours. */
const callersFields = new Set(
  (
    "messages stream stream_options tools tool_choice parallel_tool_calls response_format n max_tokens " +
    "max_completion_tokens stop temperature top_p frequency_penalty presence_penalty logit_bias logprobs top_logprobs " +
    "seed reasoning_effort verbosity audio function_call functions metadata modalities moderation prediction " +
    "prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier store user " +
    "web_search_options"
  ).split(" "),
);

function readParam(param: unknown): string | null {
  if (typeof param !== "string" || param.length > paramCharactersMax || !paramPattern.test(param)) return null;
  return callersFields.has(param.split(/[.[]/, 1)[0] ?? "") ? param : null;
}

function readRetryAfterMs(headers: UpstreamRefusal["headers"], clock: Clock): number | null {
  const inMs = readNumber(headers["retry-after-ms"]);
  if (inMs !== null) return limitWait(inMs);
  const inSeconds = readNumber(headers["retry-after"]);
  if (inSeconds !== null) return limitWait(inSeconds * 1000);
  const date = String(headers["retry-after"]);
  const at = date.endsWith(" GMT") ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? null : limitWait(at - clock.now().getTime());
}

function readNumber(header: string | string[] | undefined): number | null {
  return typeof header === "string" && /^\d{1,12}(\.\d{1,6})?$/.test(header) ? Number(header) : null;
}

function limitWait(waitMs: number): number {
  return Math.min(Math.max(Math.ceil(waitMs), 0), retryAfterMsMax);
}
