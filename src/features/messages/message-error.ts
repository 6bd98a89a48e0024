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

/**
 * A required string. Blocks are read by hand, because an Anthropic upstream may know types that our schema lacks. The
 * path is only formatted for an error.
 */
export function needText(holder: Fields, field: string, place: string): string {
  const value = holder[field];
  return typeof value === "string" ? value : refuseValue(value, `${place}.${field}`, "string");
}

export function needObject(holder: Fields, field: string, place: string): Fields {
  const value = holder[field];
  return isObject(value) ? value : refuseValue(value, `${place}.${field}`, "object");
}

export function needObjects(list: unknown, place: string): readonly Fields[] {
  if (!Array.isArray(list)) refuseValue(list, place, "array");
  for (let index = 0; index < list.length; index += 1) {
    if (!isObject(list[index])) refuseValue(list[index], `${place}[${index}]`, "object");
  }
  return list;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
