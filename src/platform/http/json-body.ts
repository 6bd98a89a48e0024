import { isAscii, isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { JsonLimits } from "../../lib/json-cursor.ts";
import { keepText } from "../../lib/json-text.ts";
import { AppError } from "../errors/app-error.ts";
import { createJsonScanner, type JsonScanner } from "./json-scanner.ts";
import { requireStorable } from "./storable-text.ts";

/**
 * Bodies up to this size are parsed without a scan: they cannot exceed the structure limit and take at most a
 * millisecond.
 */
export const smallBodyBytes = 64 * 1024;

/**
 * Sizes of bodies that a route may outline instead of parsing them. A larger one would block the process for too long: the
 * scan takes a few milliseconds per megabyte.
 */
const outlinedBytes = { min: 4 * 1024, max: 1024 * 1024 };

/** With fewer objects, a small body is mostly long texts, which the parser reads faster than an outline. */
const outlinedObjectsMin = 32;
const openBrace = 0x7b;

/**
 * Non-ASCII text takes ten times as long to decode and encode. This limit exceeds the longest context; base64 images and
 * recordings are ASCII and do not count.
 */
const wideBytesMax = 8 * 1024 * 1024;

type Done = (error: Error | null, body?: unknown) => void;

/** Accepts uncompressed JSON in UTF-8 and rejects every other content type, character set or encoding. */
export function acceptJsonBodies(http: FastifyInstance, limits: JsonLimits): void {
  http.removeAllContentTypeParsers();
  http.addContentTypeParser("application/json", (request, payload, done: Done) => {
    const chosen = chooseLimits(request, limits);
    collectBody(request, payload, chosen, (error, collected) => {
      if (error !== null) done(error);
      else if (!outlineBody(request, collected, chosen, done)) parseBody(request, collected, chosen, done);
    });
  });
  // Many clients send a content type even without a body.
  http.addContentTypeParser("*", (request, _payload, done) => {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    const hasNone = length === "0" && encoding === undefined && canBeEmpty(request);
    // An unknown path is a 404, whatever its body.
    if (hasNone || request.is404) done(null);
    else done(createUnknownType());
  });
}

/** Routes with long lists of numbers have a higher limit, unless the operator's is higher still. */
function chooseLimits({ routeOptions }: FastifyRequest, limits: JsonLimits): JsonLimits {
  const { jsonStructureMax: structureMax = 0 } = routeOptions.config;
  return structureMax <= limits.structureMax ? limits : { ...limits, structureMax };
}

function createUnknownType(): AppError {
  const message = "The body's content type is not supported. Send Content-Type: application/json.";
  return new AppError("unsupported_media_type", message);
}

/** A body, and its scanner if it is not small. */
type Collected = { body: Buffer; scanner: JsonScanner | null };
const nothing: Collected = { body: Buffer.alloc(0), scanner: null };

type OnCollected = (error: Error | null, collected: Collected) => void;

/** Reads the body and rejects it as soon as a limit is exceeded. */
function collectBody(request: FastifyRequest, payload: IncomingMessage, limits: JsonLimits, onEnd: OnCollected): void {
  const { bodyLimit: bytesMax, config } = request.routeOptions;
  // A body to outline is scanned once, when it is complete.
  const unscannedBytesMax = config.outline === undefined ? smallBodyBytes : outlinedBytes.max;
  const chunks: Buffer[] = [];
  let scanner: JsonScanner | null = null;
  let bytes = 0;
  let wideBytes = 0;

  function end(error: Error | null): void {
    payload.off("data", onData).off("end", onWhole).off("error", end);
    onEnd(error, error === null ? { body: joinChunks(chunks, bytes), scanner } : nothing);
  }

  function onData(chunk: Buffer): void {
    bytes += chunk.length;
    request.content?.request.excerpt?.add(chunk);
    if (bytes > bytesMax) {
      end(createTooLarge(bytesMax));
      return;
    }
    chunks.push(chunk);
    if (bytes <= unscannedBytesMax) return;
    // The first chunk beyond the limit also scans the chunks before it.
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
  if (Number(request.headers["content-length"]) > bytesMax) onEnd(createTooLarge(bytesMax), nothing);
  else payload.on("data", onData).on("end", onWhole).on("error", end);
}

/** Most bodies arrive in one chunk, which needs no copy. */
function joinChunks(chunks: readonly Buffer[], bytes: number): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
}

function createTooLarge(bytesMax: number): AppError {
  return new AppError("payload_too_large", `The body exceeds ${bytesMax} bytes. Send less at a time.`);
}

function createTooWide(): AppError {
  const message = `The body has more than ${wideBytesMax} bytes of non-ASCII text. Send less at a time.`;
  return new AppError("payload_too_large", message);
}

function createTooMuch(exceeded: keyof JsonLimits, limits: JsonLimits): AppError {
  const what = {
    structureMax: `${limits.structureMax} of the characters \`{\`, \`[\`, \`:\` and \`,\` outside strings`,
    escapesMax: `${limits.escapesMax} escapes (\`\\\`) in its strings`,
  };
  return new AppError("payload_too_large", `The body has more than ${what[exceeded]}. Send less at a time.`);
}

/** Lets the route outline the body; `false` if it must be parsed. */
function outlineBody(request: FastifyRequest, { body }: Collected, limits: JsonLimits, done: Done): boolean {
  const { outline } = request.routeOptions.config;
  if (outline === undefined || body.length < outlinedBytes.min || body.length > outlinedBytes.max) return false;
  if (body.length <= smallBodyBytes && !hasManyObjects(body)) return false;
  let value: object | null;
  try {
    receiveBody(request, body);
    value = isUtf8(body) ? outline(body, limits) : null;
  } catch (error) {
    done(error as Error);
    return true;
  }
  if (value === null) return false;
  done(null, value);
  return true;
}

function hasManyObjects(body: Buffer): boolean {
  let at = -1;
  for (let objects = 0; objects < outlinedObjectsMin; objects += 1) {
    at = body.indexOf(openBrace, at + 1);
    if (at === -1) return false;
  }
  return true;
}

function parseBody(request: FastifyRequest, { body, scanner }: Collected, limits: JsonLimits, done: Done): void {
  if (body.length <= smallBodyBytes) {
    parseSmallBody(request, { body, scanner }, done);
    return;
  }
  const counted = scanner ?? createJsonScanner(limits);
  const exceeded = scanner === null ? counted.add(body) : null;
  if (exceeded !== null) done(createTooMuch(exceeded, limits));
  else parseLargeBody(request, { body, scanner: counted }).then((value) => done(null, value), done);
}

function parseSmallBody(request: FastifyRequest, collected: Collected, done: Done): void {
  const { body } = collected;
  let value: unknown;
  try {
    receiveBody(request, body);
    value = body.length === 0 ? parseNothing(request) : parseJson(request, collected, readText(body));
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, value);
}

/** Yields to the event loop around each slow step. */
async function parseLargeBody(request: FastifyRequest, collected: Collected): Promise<unknown> {
  const { body } = collected;
  receiveBody(request, body);
  await nextTurn();
  const text = readText(body);
  await nextTurn();
  const value = parseJson(request, collected, text);
  await nextTurn();
  return value;
}

function receiveBody(request: FastifyRequest, body: Buffer): void {
  requirePlainUtf8(request.headers);
  request.bodyBytes = body.length;
  // Idempotency compares the raw bytes of repeated requests.
  if (request.headers["idempotency-key"] !== undefined) request.rawBody = body;
}

function requirePlainUtf8(headers: Record<string, string | string[] | undefined>): void {
  const charset = readCharset(String(headers["content-type"]));
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new AppError("unsupported_media_type", `The character set ${charset} is not supported. Send UTF-8.`, {
      param: "Content-Type",
    });
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new AppError("unsupported_media_type", "Compressed bodies are not supported. Send it without compression.", {
      param: "Content-Encoding",
    });
  }
}

function readCharset(contentType: string): string | undefined {
  // Fast path: most headers have no parameters.
  if (!contentType.includes(";")) return undefined;
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
}

/** An empty body is allowed if the route's body is optional. */
function parseNothing(request: FastifyRequest): undefined {
  if (canBeEmpty(request)) return undefined;
  throw new AppError("invalid_json", "The body is empty. Send one JSON value.");
}

function canBeEmpty({ routeOptions }: FastifyRequest): boolean {
  const body = routeOptions.schema?.body as { nullable?: boolean } | undefined;
  return body === undefined || body.nullable === true;
}

function readText(body: Buffer): string {
  if (!isUtf8(body)) throw new AppError("invalid_json", "The body is not valid UTF-8. Encode it as UTF-8.");
  return body.toString("utf8");
}

function parseJson({ routeOptions }: FastifyRequest, collected: Collected, text: string): unknown {
  const { storesTexts, keepsText } = routeOptions.config;
  const value = parseText(text);
  if (storesTexts !== false) requireStorable(value, collected.body);
  if (keepsText === true) keepTextOf(value, collected);
  return value;
}

/** Of a small body nothing is kept: writing it again takes less time than scanning it. */
function keepTextOf(value: unknown, { body, scanner }: Collected): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const outline = scanner?.outline() ?? null;
  if (outline !== null) keepText(value, body, outline);
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's message quotes the body: it is sent to the caller only, and the log has only the code.
    throw new AppError("invalid_json", `The body is not valid JSON: ${error instanceof Error ? error.message : ""}.`);
  }
}
