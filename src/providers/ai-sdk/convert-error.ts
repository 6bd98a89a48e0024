import { ProviderError } from "../contract.ts";
import { readVendorRefusal } from "../failures/read-vendor-refusal.ts";
import { parseRefusal } from "../failures/read-vendor-words.ts";
import { isPlainObject, readField, readText } from "./read-json.ts";
import { findSchemaFailure } from "./repair-answer.ts";

/** Errors that AI SDK packages throw before sending, for a request they do not support. */
const refusalNames: ReadonlySet<string> = new Set([
  "AI_InvalidArgumentError",
  "AI_InvalidPromptError",
  "AI_UnsupportedFunctionalityError",
]);

/** Field names at the start of vendors' messages. */
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

const quotedLengthMax = 300;

/** Converts anything that an AI SDK package throws, or returns in a stream. */
export function convertError(error: unknown, now: Date): ProviderError {
  const name = readText(error, "name") ?? (error instanceof Error ? error.name : null);
  if (refusalNames.has(name ?? ""))
    return new ProviderError("rejected", "The vendor's package cannot convert the request.", {
      detail: { message: quote(error) },
    });
  if (name === "AI_LoadAPIKeyError") return new ProviderError("key-refused", "The upstream has no key.");
  // The body is valid JSON that the package's schema rejects. This says nothing about the next call.
  if (findSchemaFailure(error) !== null) {
    return new ProviderError("bad-answer", "The vendor's package rejected the response.", {
      isIsolated: true,
      detail: { message: quote(error) },
    });
  }
  const status = readField(error, "statusCode");
  const body = readBody(error);
  const isAnswer = typeof status === "number" && status < 300 && readField(body, "error") === undefined;
  if (isAnswer || (typeof status !== "number" && typeof body !== "object")) {
    return new ProviderError("bad-answer", "The upstream's response cannot be parsed.", {
      detail: { message: quote(error) },
    });
  }
  const headers = readField(error, "responseHeaders");
  return classifyErrorBody({ status: typeof status === "number" ? status : 200, headers, body }, now);
}

/** An error in the vendor's own format in the middle of an answer. */
export function convertErrorBody(body: unknown, now: Date): ProviderError {
  return classifyErrorBody({ status: 200, headers: {}, body }, now);
}

/** An error of a vendor that names the field at the start of its message. */
export function classifyErrorBody(
  { status, headers, body }: { status: number; headers: unknown; body: unknown },
  now: Date,
): ProviderError {
  return readVendorRefusal(
    { status, headers: isPlainObject(headers) ? (headers as Record<string, string | undefined>) : {}, body },
    { now, findParam: ({ message }) => paramsOfFields.get(message.match(/^[a-z_]+(?=[.:])/)?.[0] ?? "") ?? null },
  );
}

/** The body as the vendor sent it; packages keep only a part in `data`. */
function readBody(error: unknown): unknown {
  const written = readText(error, "responseBody") ?? "";
  if (written !== "") return parseRefusal(written);
  return readField(error, "data") ?? (error instanceof Error ? undefined : error);
}

function quote(error: unknown): string {
  return (readText(error, "message") ?? (error instanceof Error ? error.message : String(error))).slice(
    0,
    quotedLengthMax,
  );
}
