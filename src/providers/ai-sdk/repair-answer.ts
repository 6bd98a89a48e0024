import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { isPlainObject, readField, readList, readText } from "./read-json.ts";

/**
 * Packages validate responses with schemas that are stricter than their vendors. A response that one rejects is passed
 * to it again, without the parts that its schema rejects.
 */

/** A vendor's JSON, and the paths that a package's schema rejects. */
type SchemaFailure = { value: unknown; paths: readonly Path[] };

type Path = readonly (string | number)[];

/** Each pass removes a part, or what contains it. */
const passesMax = 8;
const causesMax = 4;

/** `null` for any other failure. */
export function findSchemaFailure(error: unknown): SchemaFailure | null {
  let found = error;
  for (let depth = 0; depth < causesMax; depth += 1) {
    if (readText(found, "name") === "AI_TypeValidationError") {
      const value = readField(found, "value");
      // The vendor's own errors are handled elsewhere.
      if ((readField(value, "error") ?? null) !== null) return null;
      return { value, paths: readIssues(readField(found, "cause")).flatMap(readPath) };
    }
    found = readField(found, "cause");
  }
  return null;
}

/** Zod's issues, which may be behind a getter. */
function readIssues(cause: unknown): readonly unknown[] {
  const own = readList(cause, "issues");
  if (own.length > 0 || !(cause instanceof Error) || !("issues" in cause)) return own;
  return Array.isArray(cause.issues) ? cause.issues : [];
}

function readPath(issue: unknown): Path[] {
  const path = readList(issue, "path");
  const isPath = path.every((step) => typeof step === "string" || typeof step === "number");
  return isPath && path.length > 0 ? [path as Path] : [];
}

/**
 * The value without what is at the paths; for a missing field, without what should contain it. `null` if nothing
 * remains.
 */
function repair({ value, paths }: SchemaFailure): unknown {
  if (paths.length === 0) return null;
  const repaired: unknown = structuredClone(value);
  // From the back, so that removing a list item does not move the others.
  for (const path of paths.toSorted(compareBackwards)) if (!removeAt(repaired, path)) return null;
  return repaired;
}

function compareBackwards(one: Path, other: Path): number {
  for (const [depth, step] of one.entries()) {
    const against = other[depth];
    if (step === against || against === undefined) continue;
    return typeof step === "number" && typeof against === "number" ? against - step : 0;
  }
  return 0;
}

/** `false` if only the whole value could be removed. */
function removeAt(root: unknown, path: Path): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = path.slice(0, length - 1).reduce<unknown>((at, step) => readField(at, String(step)), root);
    const last = path[length - 1];
    if (Array.isArray(parent) && typeof last === "number" && last < parent.length) {
      parent.splice(last, 1);
      return true;
    }
    if (isPlainObject(parent) && last !== undefined && Object.hasOwn(parent, last)) {
      delete parent[String(last)];
      return true;
    }
  }
  return false;
}

/** Parses a complete response again that its package rejected. Throws the failure if that does not help. */
export async function reparseAnswer(
  error: unknown,
  generate: (body: string) => PromiseLike<LanguageModelV4GenerateResult>,
): Promise<LanguageModelV4GenerateResult> {
  let failure = error;
  for (let pass = 0; pass < passesMax; pass += 1) {
    const found = findSchemaFailure(failure);
    const repaired = found === null ? null : repair(found);
    if (repaired === null) break;
    try {
      return await generate(JSON.stringify(repaired));
    } catch (next) {
      failure = next;
    }
  }
  throw failure;
}

/** The parts of an event that its package rejected. Throws the failure if none can be recovered. */
export async function reparseEvent(
  error: unknown,
  stream: (body: string) => PromiseLike<{ stream: ReadableStream<LanguageModelV4StreamPart> }>,
): Promise<LanguageModelV4StreamPart[]> {
  let failure = error;
  for (let pass = 0; pass < passesMax; pass += 1) {
    const found = findSchemaFailure(failure);
    const repaired = found === null ? null : repair(found);
    if (repaired === null) break;
    const parts: LanguageModelV4StreamPart[] = [];
    for await (const part of (await stream(`data: ${JSON.stringify(repaired)}\n\n`)).stream) parts.push(part);
    const refused = parts.find((part) => part.type === "error");
    if (refused === undefined) return parts;
    failure = refused.error;
  }
  throw failure;
}
