import { isDeepStrictEqual } from "node:util";
import { matchesPattern } from "./pattern-text.ts";
import {
  collectParts,
  findItemSchema,
  findPropertySchema,
  getPattern,
  isPart,
  readSchemas,
  type Schema,
  type SchemaPart,
  type SchemaScope,
  spendStep,
} from "./schema-parts.ts";

const patternSteps = 100;
const comparisonsPerStep = 50;

/** Whether a value is valid for the schema; knows the same keywords as the maker of values does. */
export function fitsSchema(schema: Schema, value: unknown, scope: SchemaScope): boolean {
  return collectParts([schema], scope).every((part) => fitsPart(part, value, scope));
}

/** A part has neither references nor `allOf`. */
export function fitsPart(part: SchemaPart, value: unknown, scope: SchemaScope): boolean {
  return (
    fitsChoice(part, value, scope) &&
    fitsType(part.type, value) &&
    (typeof value !== "string" || fitsText(part, value, scope)) &&
    (typeof value !== "number" || fitsNumber(part, value)) &&
    (!Array.isArray(value) || fitsList(part, value, scope)) &&
    (!isPart(value) || fitsObject(part, value, scope)) &&
    fitsBranches(part, value, scope)
  );
}

function fitsChoice(part: SchemaPart, value: unknown, scope: SchemaScope): boolean {
  if (Array.isArray(part.enum)) spendStep(scope, part.enum.length / comparisonsPerStep);
  const isListed = !Array.isArray(part.enum) || part.enum.some((item) => isDeepStrictEqual(item, value));
  return isListed && (!Object.hasOwn(part, "const") || isDeepStrictEqual(part.const, value));
}

function fitsType(type: unknown, value: unknown): boolean {
  if (type === undefined) return true;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  return types.includes(nameType(value)) || (types.includes("number") && nameType(value) === "integer");
}

function nameType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function fitsText(part: SchemaPart, value: string, scope: SchemaScope): boolean {
  if (!isWithin(Array.from(value).length, part.minLength, part.maxLength)) return false;
  if (typeof part.pattern !== "string") return true;
  spendStep(scope, patternSteps);
  return matchesPattern(getPattern(part.pattern, scope), value);
}

function fitsNumber(part: SchemaPart, value: number): boolean {
  const { exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = part;
  return (
    isWithin(value, part.minimum, part.maximum) &&
    (typeof above !== "number" || value > above) &&
    (typeof below !== "number" || value < below) &&
    (typeof multipleOf !== "number" || Number.isInteger(value / multipleOf))
  );
}

function fitsList(part: SchemaPart, value: readonly unknown[], scope: SchemaScope): boolean {
  if (!isWithin(value.length, part.minItems, part.maxItems)) return false;
  if (part.uniqueItems === true) {
    spendStep(scope, value.length ** 2 / comparisonsPerStep);
    if (hasTwins(value)) return false;
  }
  return value.every((item, index) => fitsSchema(findItemSchema(part, index), item, scope));
}

export function hasTwins(list: readonly unknown[]): boolean {
  return list.some((item, index) => list.slice(0, index).some((earlier) => isDeepStrictEqual(earlier, item)));
}

function fitsObject(part: SchemaPart, value: SchemaPart, scope: SchemaScope): boolean {
  const keys = Object.keys(value);
  if (!isWithin(keys.length, part.minProperties, part.maxProperties)) return false;
  const required: unknown[] = Array.isArray(part.required) ? part.required : [];
  if (!required.every((key) => Object.hasOwn(value, String(key)))) return false;
  return keys.every((key) => fitsSchema(findPropertySchema(part, key), value[key], scope));
}

function fitsBranches(part: SchemaPart, value: unknown, scope: SchemaScope): boolean {
  const countFits = (list: unknown): number =>
    readSchemas(list).filter((branch) => fitsSchema(branch, value, scope)).length;
  return (
    (part.anyOf === undefined || countFits(part.anyOf) > 0) && (part.oneOf === undefined || countFits(part.oneOf) === 1)
  );
}

function isWithin(value: number, min: unknown, max: unknown): boolean {
  return (typeof min !== "number" || value >= min) && (typeof max !== "number" || value <= max);
}
