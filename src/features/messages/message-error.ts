import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function refuse(code: ErrorCode, param: string, message: string): never {
  throw new AppError(code, message, { param });
}

function refuseValue(value: unknown, place: string, type: string): never {
  if (value === undefined) refuse("missing_parameter", place, `\`${place}\` is required.`);
  refuse("invalid_parameter", place, `\`${place}\` must be of type ${type}.`);
}

/** Blocks are read by hand: an upstream of Anthropic's may know kinds that no schema of ours has. */
export function needText(value: unknown, place: string): string {
  return typeof value === "string" ? value : refuseValue(value, place, "string");
}

export function needObject(value: unknown, place: string): Fields {
  return isObject(value) ? value : refuseValue(value, place, "object");
}

export function needList(value: unknown, place: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuseValue(value, place, "array");
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
