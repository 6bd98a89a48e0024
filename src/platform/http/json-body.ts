import { isAscii, isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../errors/app-error.ts";
import { createJsonScanner, type JsonLimits, type JsonScanner } from "./json-scanner.ts";
import { requireStorable } from "./storable-text.ts";

/**
 * A body that is not larger than this is parsed as it is: it cannot have more structure than others may have. It takes a
 * millisecond at the most.
 */
export const smallBodyBytes = 64 * 1024;

/**
 * Characters beyond ASCII take ten times as long to decode and to encode. So many bytes are more than the longest context
 * has; inline images and recordings are ASCII, and are not counted.
 */
const wideBytesMax = 8 * 1024 * 1024;

type Done = (error: Error | null, body?: unknown) => void;

/** Accepts JSON in UTF-8, as it is: every other content type, character set or encoding is refused with a reason. */
export function acceptJsonBodies(http: FastifyInstance, limits: JsonLimits): void {
  http.removeAllContentTypeParsers();
  http.addContentTypeParser("application/json", (request, payload, done: Done) => {
    collectBody(request, payload, chooseLimits(request, limits), (error, body) => {
      if (error !== null) done(error);
      else if (body.length > smallBodyBytes) parseLargeBody(request, body).then((value) => done(null, value), done);
      else parseSmallBody(request, body, done);
    });
  });
  // Many clients name a content type on every request, and mean nothing by it where there is no body.
  http.addContentTypeParser("*", (request, _payload, done) => {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    const hasNone = length === "0" && encoding === undefined && canBeEmpty(request);
    // Where there is nothing, that is what is said, whatever was sent there.
    if (hasNone || request.is404) done(null);
    else done(createUnknownType());
  });
}

/** A route whose bodies are lists of numbers says so; an operator who allows more than that does so there, too. */
function chooseLimits({ routeOptions }: FastifyRequest, limits: JsonLimits): JsonLimits {
  const { jsonStructureMax: structureMax = 0 } = routeOptions.config;
  return structureMax <= limits.structureMax ? limits : { ...limits, structureMax };
}

function createUnknownType(): AppError {
  const message = "The body's content type is not accepted here. Send Content-Type: application/json.";
  return new AppError("unsupported_media_type", message);
}

type Collected = (error: Error | null, body: Buffer) => void;

/** Reads a body to its end. What is too much is refused as soon as it is seen, whatever is still to come. */
function collectBody(request: FastifyRequest, payload: IncomingMessage, limits: JsonLimits, onEnd: Collected): void {
  const { bodyLimit: bytesMax } = request.routeOptions;
  const chunks: Buffer[] = [];
  let scanner: JsonScanner | null = null;
  let bytes = 0;
  let wideBytes = 0;

  function end(error: Error | null): void {
    payload.off("data", onData).off("end", onWhole).off("error", end);
    onEnd(error, error === null ? Buffer.concat(chunks, bytes) : Buffer.alloc(0));
  }

  function onData(chunk: Buffer): void {
    bytes += chunk.length;
    request.content?.request.excerpt?.add(chunk);
    if (bytes > bytesMax) {
      end(createTooLarge(bytesMax));
      return;
    }
    chunks.push(chunk);
    if (bytes <= smallBodyBytes) return;
    // What came before is looked at with the chunk that made it too much to be let pass.
    const unseen = scanner === null ? chunks : [chunk];
    scanner ??= createJsonScanner(limits);
    for (const part of unseen) {
      if (!isAscii(part)) wideBytes += part.length;
      if (wideBytes > wideBytesMax) {
        end(createTooWide());
        return;
      }
      const exceeded = scanner.add(part);
      if (exceeded !== null) {
        end(createTooMuch(exceeded, limits));
        return;
      }
    }
  }

  const onWhole = (): void => end(null);
  if (Number(request.headers["content-length"]) > bytesMax) onEnd(createTooLarge(bytesMax), Buffer.alloc(0));
  else payload.on("data", onData).on("end", onWhole).on("error", end);
}

function createTooLarge(bytesMax: number): AppError {
  return new AppError("payload_too_large", `The body is larger than ${bytesMax} bytes.`);
}

function createTooWide(): AppError {
  const message = `The body has more than ${wideBytesMax} bytes of text beyond ASCII. Send less at a time.`;
  return new AppError("payload_too_large", message);
}

function createTooMuch(exceeded: keyof JsonLimits, limits: JsonLimits): AppError {
  const what = {
    structureMax: `${limits.structureMax} of the characters \`{\`, \`[\`, \`:\` and \`,\` outside of its strings`,
    escapesMax: `${limits.escapesMax} escapes (\`\\\`) in its strings`,
  };
  return new AppError("payload_too_large", `The body has more than ${what[exceeded]}. Send less at a time.`);
}

function parseSmallBody(request: FastifyRequest, body: Buffer, done: Done): void {
  let value: unknown;
  try {
    receiveBody(request, body);
    value = body.length === 0 ? parseNothing(request) : parseJson(request, body, readText(body));
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, value);
}

/** Others get their turn before and after each step that takes long. */
async function parseLargeBody(request: FastifyRequest, body: Buffer): Promise<unknown> {
  receiveBody(request, body);
  await nextTurn();
  const text = readText(body);
  await nextTurn();
  const value = parseJson(request, body, text);
  await nextTurn();
  return value;
}

function receiveBody(request: FastifyRequest, body: Buffer): void {
  requirePlainUtf8(request.headers);
  request.bodyBytes = body.length;
  // Only who may send a request again is asked for the very same bytes.
  if (request.headers["idempotency-key"] !== undefined) request.rawBody = body;
}

function requirePlainUtf8(headers: Record<string, string | string[] | undefined>): void {
  const charset = readCharset(String(headers["content-type"]));
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new AppError("unsupported_media_type", `The character set ${charset} is not accepted. Send UTF-8.`, {
      param: "Content-Type",
    });
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new AppError("unsupported_media_type", "A compressed body is not accepted. Send it without compression.", {
      param: "Content-Encoding",
    });
  }
}

function readCharset(contentType: string): string | undefined {
  // The usual header has no parameters, and needs no pattern to see that.
  if (!contentType.includes(";")) return undefined;
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
}

/** An empty body is none where the route can do without. */
function parseNothing(request: FastifyRequest): undefined {
  if (canBeEmpty(request)) return undefined;
  throw new AppError("invalid_json", "The body is empty. Send one JSON value.");
}

function canBeEmpty({ routeOptions }: FastifyRequest): boolean {
  const body = routeOptions.schema?.body as { nullable?: boolean } | undefined;
  return body === undefined || body.nullable === true;
}

function readText(body: Buffer): string {
  if (!isUtf8(body)) throw new AppError("invalid_json", "The body is not valid UTF-8.");
  return body.toString("utf8");
}

function parseJson(request: FastifyRequest, body: Buffer, text: string): unknown {
  const value = parseText(text);
  if (request.routeOptions.config.storesTexts !== false) requireStorable(value, body);
  return value;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's message quotes the body, which is the caller's own and goes nowhere else: the log gets only the code.
    throw new AppError("invalid_json", `The body is not valid JSON: ${error instanceof Error ? error.message : ""}.`);
  }
}
