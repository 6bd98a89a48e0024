import { ProviderError, type ProviderErrorKind } from "../contract.ts";
import { findSchemaFailure } from "./mend-answer.ts";
import { parseJson, readField, readList, readText } from "./read-json.ts";

/** The words that vendors have for what went wrong; Anthropic's, Google's, and OpenAI's for those who imitate it. */
const kindsOfWords: ReadonlyMap<string, ProviderErrorKind> = new Map<string, ProviderErrorKind>([
  ["api_error", "overloaded"],
  ["authentication_error", "unauthorized"],
  ["billing_error", "unauthorized"],
  ["invalid_request_error", "rejected"],
  ["not_found_error", "unauthorized"],
  ["overloaded_error", "overloaded"],
  ["permission_error", "unauthorized"],
  ["rate_limit_error", "rate-limited"],
  ["request_too_large", "too-long"],
  ["timeout_error", "timeout"],

  ["CANCELLED", "overloaded"],
  ["DEADLINE_EXCEEDED", "timeout"],
  ["FAILED_PRECONDITION", "unauthorized"],
  ["INTERNAL", "overloaded"],
  ["INVALID_ARGUMENT", "rejected"],
  ["NOT_FOUND", "unauthorized"],
  ["OUT_OF_RANGE", "rejected"],
  ["PERMISSION_DENIED", "unauthorized"],
  ["RESOURCE_EXHAUSTED", "rate-limited"],
  ["UNAUTHENTICATED", "unauthorized"],
  ["UNAVAILABLE", "overloaded"],

  ["content_filter", "content-refused"],
  ["content_policy_violation", "content-refused"],
  ["context_length_exceeded", "too-long"],
  ["insufficient_quota", "unauthorized"],
  ["model_not_found", "unauthorized"],
  ["rate_limit_exceeded", "rate-limited"],
]);

/** Sentences by which vendors tell what their words do not. */
const kindsOfSentences: readonly (readonly [RegExp, ProviderErrorKind])[] = [
  [/prompt is too long|exceeds? (?:the )?(?:context|maximum number of tokens)|context (?:window|length)/i, "too-long"],
  [/credit balance|usage limits?|spend(?:ing)? limit|billing|api key (?:not valid|expired)/i, "unauthorized"],
  [/location is not supported/i, "unauthorized"],
  [/content filtering policy|blocked by .*(?:safety|content)/i, "content-refused"],
];

const kindsOfStatuses: ReadonlyMap<number, ProviderErrorKind> = new Map<number, ProviderErrorKind>([
  [401, "unauthorized"],
  [402, "unauthorized"],
  [403, "unauthorized"],
  [404, "unauthorized"],
  [408, "timeout"],
  [413, "too-long"],
  [429, "rate-limited"],
  [504, "timeout"],
]);

/** Errors by which packages of the SDK say, before anything is sent, that a request asks for too much. */
const refusalNames: ReadonlySet<string> = new Set([
  "AI_InvalidArgumentError",
  "AI_InvalidPromptError",
  "AI_UnsupportedFunctionalityError",
]);

/** Vendors' names of fields, at the beginning of their sentences. */
const paramsOfFields: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "max_tokens"],
  ["messages", "messages"],
  ["stop_sequences", "stop"],
  ["system", "messages"],
  ["temperature", "temperature"],
  ["tool_choice", "tool_choice"],
  ["tools", "tools"],
  ["top_p", "top_p"],
]);

/** A quota of a day is not there again when a minute is over, whatever the upstream says. */
const dailyQuotaRetryMs = 3_600_000;
const retryMsMax = 24 * 3_600_000;
const quotedLengthMax = 300;

/** Whatever a package of the SDK throws or tells in a stream, as an error that says what to do about it. */
export function convertError(error: unknown, now: Date): ProviderError {
  const name = readText(error, "name") ?? (error instanceof Error ? error.name : null);
  if (refusalNames.has(name ?? ""))
    return new ProviderError("rejected", "The request cannot be put into the vendor's form.", {
      detail: { said: quote(error) },
    });
  if (name === "AI_LoadAPIKeyError") return new ProviderError("unauthorized", "The upstream has no key.");
  // What the vendor said is JSON, and says nothing of how the next answer would fare.
  if (findSchemaFailure(error) !== null) {
    return new ProviderError("bad-answer", "The vendor's package does not take the answer.", {
      isIsolated: true,
      detail: { said: quote(error) },
    });
  }
  const status = readField(error, "statusCode");
  const body = readBody(error);
  if (typeof status !== "number" && body === null) {
    return new ProviderError("bad-answer", "The upstream's answer cannot be understood.", {
      detail: { said: quote(error) },
    });
  }
  return classify(typeof status === "number" ? status : null, {
    body,
    headers: readField(error, "responseHeaders"),
    now,
  });
}

/** An error that stands in the vendor's own form in the middle of an answer. */
export function convertErrorBody(body: unknown, now: Date): ProviderError {
  return classify(null, { body, headers: null, now });
}

/** The vendor's error, `{type, message}` or `{status, message, details}`, without its envelope. */
function readBody(error: unknown): unknown {
  const plain = error instanceof Error ? null : error;
  const whole = readField(error, "data") ?? parseJson(readText(error, "responseBody") ?? "") ?? plain;
  const inner = readField(whole, "error") ?? whole;
  return typeof inner === "object" ? (inner ?? null) : null;
}

function classify(
  status: number | null,
  { body, headers, now }: { body: unknown; headers: unknown; now: Date },
): ProviderError {
  const words = ["status", "code", "type"].flatMap((field) => readText(body, field) ?? []);
  const said = readText(body, "message") ?? "";
  const kind = chooseKind({ status, words, said });
  const isWaiting = kind === "rate-limited" || kind === "overloaded";
  const field = said.match(/^[a-z_]+(?=[.:])/)?.[0] ?? "";
  const title = [status ?? "an error", ...words].join(" ");
  return new ProviderError(kind, `The upstream answered ${title.slice(0, quotedLengthMax)}.`, {
    param: kind === "rejected" ? (paramsOfFields.get(field) ?? null) : null,
    retryAfterMs: isWaiting ? readRetryMs({ body, headers, now }) : null,
    detail: { status, words, said: said.slice(0, quotedLengthMax) },
  });
}

function chooseKind({
  status,
  words,
  said,
}: {
  status: number | null;
  words: string[];
  said: string;
}): ProviderErrorKind {
  const spoken = words.map((word) => kindsOfWords.get(word)).find((kind) => kind !== undefined);
  const fromStatus = status === null ? undefined : (kindsOfStatuses.get(status) ?? chooseByClass(status));
  // A vendor's "invalid request" says less than its status.
  const kind = (spoken === "rejected" ? fromStatus : spoken) ?? fromStatus ?? spoken ?? "bad-answer";
  // Sentences only refine what is about the request or about our account; a busy server may mention anything.
  if (kind !== "rejected" && kind !== "rate-limited") return kind;
  const meant = kindsOfSentences.find(([pattern]) => pattern.test(said))?.[1];
  return kind === "rejected" ? (meant ?? kind) : meant === "unauthorized" ? meant : kind;
}

function chooseByClass(status: number): ProviderErrorKind {
  if (status >= 500) return "overloaded";
  return status >= 400 ? "rejected" : "bad-answer";
}

function readRetryMs({ body, headers, now }: { body: unknown; headers: unknown; now: Date }): number | null {
  const details = readList(body, "details");
  const isDaily = details.some((detail) =>
    readList(detail, "violations").some((violation) => /PerDay/i.test(readText(violation, "quotaId") ?? "")),
  );
  const delays = details.flatMap(
    (detail) => readText(detail, "retryDelay")?.match(/^(\d{1,6}(?:\.\d+)?)s$/)?.[1] ?? [],
  );
  const asked = [
    ...delays.map((seconds) => Number(seconds) * 1000),
    readMilliseconds(readText(headers, "retry-after-ms"), 1),
    readMilliseconds(readText(headers, "retry-after"), 1000) ?? readDate(readText(headers, "retry-after"), now),
    isDaily ? dailyQuotaRetryMs : null,
  ].filter((milliseconds) => milliseconds !== null);
  return asked.length === 0 ? null : Math.min(Math.ceil(Math.max(...asked)), retryMsMax);
}

function readMilliseconds(text: string | null, unitMs: number): number | null {
  return text !== null && /^\d{1,9}(?:\.\d+)?$/.test(text) ? Number(text) * unitMs : null;
}

function readDate(text: string | null, now: Date): number | null {
  const at = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}

function quote(error: unknown): string {
  return (readText(error, "message") ?? (error instanceof Error ? error.message : String(error))).slice(
    0,
    quotedLengthMax,
  );
}
