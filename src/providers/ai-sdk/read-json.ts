import { parseJson as parseBounded } from "../openai-compatible/json-value.ts";

/** A field of foreign JSON, if it is an object with that field. */
export function readField(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, field)?.value : undefined;
}

export function readText(value: unknown, field: string): string | null {
  const found = readField(value, field);
  return typeof found === "string" ? found : null;
}

export function readList(value: unknown, field: string): readonly unknown[] {
  const found = readField(value, field);
  return Array.isArray(found) ? found : [];
}

/** A count; anything else is 0. */
export function readCount(value: unknown, field: string): number {
  return toCount(readField(value, field));
}

export function toCount(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** `null` if it is not JSON. */
export function parseJson(text: string): unknown {
  return parseBounded(text) ?? null;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
