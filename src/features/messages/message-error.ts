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
 * A field that has to be a text. Blocks are read by hand: an upstream of Anthropic's may know kinds that no schema of ours has.
 * The name of the place is put together only where something is wrong with it.
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
  const stranger = list.findIndex((item) => !isObject(item));
  if (stranger >= 0) refuseValue(list[stranger], `${place}[${stranger}]`, "object");
  return list;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
