import { ProviderError } from "../contract.ts";
import { readVendorRefusal } from "../failures/read-vendor-refusal.ts";
import { parseRefusal } from "../failures/read-vendor-words.ts";
import { findSchemaFailure } from "./mend-answer.ts";
import { isPlainObject, readField, readText } from "./read-json.ts";

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

const quotedLengthMax = 300;

/** Whatever a package of the SDK throws or tells in a stream, as an error that says what to do about it. */
export function convertError(error: unknown, now: Date): ProviderError {
  const name = readText(error, "name") ?? (error instanceof Error ? error.name : null);
  if (refusalNames.has(name ?? ""))
    return new ProviderError("rejected", "The request cannot be put into the vendor's form.", {
      detail: { message: quote(error) },
    });
  if (name === "AI_LoadAPIKeyError") return new ProviderError("key-refused", "The upstream has no key.");
  // What the vendor said is JSON, and says nothing of how the next answer would fare.
  if (findSchemaFailure(error) !== null) {
    return new ProviderError("bad-answer", "The vendor's package does not take the answer.", {
      isIsolated: true,
      detail: { message: quote(error) },
    });
  }
  const status = readField(error, "statusCode");
  const body = readBody(error);
  const isAnswer = typeof status === "number" && status < 300 && readField(body, "error") === undefined;
  if (isAnswer || (typeof status !== "number" && typeof body !== "object")) {
    return new ProviderError("bad-answer", "The upstream's answer cannot be understood.", {
      detail: { message: quote(error) },
    });
  }
  const headers = readField(error, "responseHeaders");
  return readSpoken({ status: typeof status === "number" ? status : 200, headers, body }, now);
}

/** An error that stands in the vendor's own form in the middle of an answer. */
export function convertErrorBody(body: unknown, now: Date): ProviderError {
  return readSpoken({ status: 200, headers: {}, body }, now);
}

/** The refusal of a vendor that names the field at fault at the beginning of its sentence. */
export function readSpoken(
  { status, headers, body }: { status: number; headers: unknown; body: unknown },
  now: Date,
): ProviderError {
  return readVendorRefusal(
    { status, headers: isPlainObject(headers) ? (headers as Record<string, string | undefined>) : {}, body },
    { now, findParam: ({ message }) => paramsOfFields.get(message.match(/^[a-z_]+(?=[.:])/)?.[0] ?? "") ?? null },
  );
}

/** As the vendor wrote it; packages keep only a part of it in `data`. */
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
