import { ProviderError } from "./contract.ts";
import type { EmbeddingEncoding } from "./embedding.ts";

const bytesPerNumber = 4;
const foreignPattern = /[^A-Za-z0-9+/]/;

/** A vector as JSON in the requested encoding. */
export function writeVector(numbers: readonly number[], encoding: EmbeddingEncoding): string {
  return encoding === "base64" ? `"${writeBase64(numbers)}"` : JSON.stringify(numbers);
}

function writeBase64(numbers: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * bytesPerNumber);
  let at = 0;
  for (const number of numbers) at = bytes.writeFloatLE(number, at);
  return bytes.toString("base64");
}

/** The numbers of a base64 vector. */
export function readBase64Vector(text: string): number[] {
  const bytes = Buffer.from(text, "base64");
  return Array.from({ length: bytes.length / bytesPerNumber }, (_, index) => bytes.readFloatLE(index * bytesPerNumber));
}

/** The number of values in a base64 vector; `null` if it is not one. */
export function measureBase64Vector(text: string): number | null {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  if (text.length % 4 !== 0 || foreignPattern.test(text.slice(0, text.length - padding))) return null;
  const bytes = (text.length / 4) * 3 - padding;
  return bytes % bytesPerNumber === 0 ? bytes / bytesPerNumber : null;
}

/** A vector must have the requested length. */
export function checkLength(length: number, dimensions: number | null): void {
  if (length === 0) throw new ProviderError("bad-answer", "A vector in the response is empty.");
  if (dimensions === null || length === dimensions) return;
  throw new ProviderError("rejected", "The model's vectors do not have the requested length.", {
    param: "dimensions",
    isIsolated: true,
    detail: { dimensions, length },
  });
}

export function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((number) => typeof number === "number" && Number.isFinite(number));
}
