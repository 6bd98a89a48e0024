import { isDeepStrictEqual } from "node:util";

/** A JSON Schema, as a caller sends it: nothing of it is known to be well-formed. */
export type Schema = boolean | SchemaPart;
export type SchemaPart = Readonly<Record<string, unknown>>;

/** What is known while one value is made or judged. */
export type SchemaScope = {
  root: Schema;
  /** Grows with everything that is looked at: a schema can ask for more work than its length shows. */
  steps: number;
  /** Texts that were made for a pattern: of no others is known that they match. */
  matches: Map<string, Set<string>>;
};

/** The schema asks for something that the sandbox cannot make. Its text is for the caller. */
export class SchemaObstacleError extends Error {
  override readonly name = "SchemaObstacleError";
  /** No other way can lead to a value either. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false } = {}) {
    super(message);
    this.isFinal = isFinal;
  }
}

const stepsMax = 20_000;
const comparisonsPerStep = 50;
const unfoldingMax = 16;
const annotations = new Set(
  "$schema $id $comment $defs definitions title description default example examples deprecated readOnly writeOnly nullable".split(
    " ",
  ),
);

type Judgement = { part: SchemaPart; scope: SchemaScope };

/** Every keyword that is understood, and whether a value keeps to what it says. What is malformed, no value keeps to. */
const rules: Readonly<Record<string, (wanted: unknown, value: unknown, judgement: Judgement) => boolean>> = {
  enum: (list, value, { scope }) => listOf(list, scope).some((item) => isDeepStrictEqual(item, value)),
  const: (wanted, value) => isDeepStrictEqual(wanted, value),
  type: (type, value, { scope }) => {
    const types = Array.isArray(type) ? listOf(type, scope) : [type];
    return types.includes(nameType(value)) || (types.includes("number") && nameType(value) === "integer");
  },
  minimum: (min, value) => typeof value !== "number" || (isNumber(min) && value >= min),
  maximum: (max, value) => typeof value !== "number" || (isNumber(max) && value <= max),
  exclusiveMinimum: (min, value) => typeof value !== "number" || (isNumber(min) && value > min),
  exclusiveMaximum: (max, value) => typeof value !== "number" || (isNumber(max) && value < max),
  multipleOf: (step, value) =>
    typeof value !== "number" || (isNumber(step) && step > 0 && Number.isInteger(value / step)),
  minLength: (min, value) => typeof value !== "string" || (isNumber(min) && Array.from(value).length >= min),
  maxLength: (max, value) => typeof value !== "string" || (isNumber(max) && Array.from(value).length <= max),
  pattern: (pattern, value, { scope }) =>
    typeof value !== "string" || scope.matches.get(String(pattern))?.has(value) === true,
  format: (format) => typeof format === "string",
  minItems: (min, value) => !Array.isArray(value) || (isNumber(min) && value.length >= min),
  maxItems: (max, value) => !Array.isArray(value) || (isNumber(max) && value.length <= max),
  uniqueItems: (isWanted, value, { scope }) => {
    if (!Array.isArray(value)) return true;
    if (isWanted === true) spendStep(scope, value.length ** 2 / comparisonsPerStep);
    return isWanted === false || (isWanted === true && !hasTwins(value));
  },
  items: (items, value, judgement) => isSchema(items) && fitsItems(value, judgement),
  prefixItems: (list, value, judgement) => Array.isArray(list) && list.every(isSchema) && fitsItems(value, judgement),
  required: (keys, value, { scope }) =>
    !isPart(value) || (Array.isArray(keys) && listOf(keys, scope).every((key) => Object.hasOwn(value, String(key)))),
  minProperties: (min, value) => !isPart(value) || (isNumber(min) && Object.keys(value).length >= min),
  maxProperties: (max, value) => !isPart(value) || (isNumber(max) && Object.keys(value).length <= max),
  properties: (map, value, judgement) =>
    isPart(map) && Object.values(map).every(isSchema) && fitsProperties(value, judgement),
  additionalProperties: (schema, value, judgement) => isSchema(schema) && fitsProperties(value, judgement),
  anyOf: (branches, value, { scope }) => countFits(branches, value, scope) > 0,
  oneOf: (branches, value, { scope }) => countFits(branches, value, scope) === 1,
};

/** Whether a value is valid for the schema. */
export function fitsSchema(schema: Schema, value: unknown, scope: SchemaScope): boolean {
  return collectParts([schema], scope).every((part) => fitsPart(part, value, scope));
}

/** A part has neither references nor `allOf`. */
export function fitsPart(part: SchemaPart, value: unknown, scope: SchemaScope): boolean {
  return Object.entries(part).every(([keyword, wanted]) => {
    const rule = Object.hasOwn(rules, keyword) ? rules[keyword] : undefined;
    return rule === undefined || rule(wanted, value, { part, scope });
  });
}

/** The schemas that a value must all fit, with references followed and `allOf` laid open. */
export function collectParts(schemas: readonly Schema[], scope: SchemaScope, unfoldings = 0): SchemaPart[] {
  if (unfoldings > unfoldingMax) throw new SchemaObstacleError("The schema refers to itself without an end.");
  return schemas.flatMap((schema) => {
    spendStep(scope);
    if (schema === true) return [];
    // "false" allows nothing, and so does a choice of nothing.
    if (schema === false) return [{ enum: [] }];
    const { $ref: reference, allOf = [], ...part } = schema;
    const unknown = Object.keys(part).find(
      (keyword) => !annotations.has(keyword) && !keyword.startsWith("x-") && !Object.hasOwn(rules, keyword),
    );
    if (unknown !== undefined || !Array.isArray(allOf) || !allOf.every(isSchema)) {
      const keyword = JSON.stringify((unknown ?? "allOf").slice(0, 40));
      throw new SchemaObstacleError(`This model does not support the keyword ${keyword}.`);
    }
    const others = reference === undefined ? allOf : [followReference(String(reference), scope.root), ...allOf];
    return others.length === 0 ? [part] : [part, ...collectParts(others, scope, unfoldings + 1)];
  });
}

function followReference(reference: string, root: Schema): Schema {
  const [before, ...steps] = reference.split("/");
  let found: unknown = root;
  for (const step of steps) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, key);
    found = isThere ? Reflect.get(Object(found), key) : undefined;
  }
  if (before === "#" && isSchema(found)) return found;
  throw new SchemaObstacleError("The schema refers to a place that is not in it.");
}

function spendStep(scope: SchemaScope, steps = 1): void {
  scope.steps += steps;
  if (scope.steps <= stepsMax) return;
  throw new SchemaObstacleError("The schema is too complex for this model.", { isFinal: true });
}

function listOf(value: unknown, scope: SchemaScope): readonly unknown[] {
  const list = Array.isArray(value) ? value : [];
  spendStep(scope, list.length / comparisonsPerStep);
  return list;
}

function nameType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

export function hasTwins(list: readonly unknown[]): boolean {
  return list.some((item, index) => list.slice(0, index).some((earlier) => isDeepStrictEqual(earlier, item)));
}

function fitsItems(value: unknown, { part, scope }: Judgement): boolean {
  return !Array.isArray(value) || value.every((item, index) => fitsSchema(findItemSchema(part, index), item, scope));
}

function fitsProperties(value: unknown, { part, scope }: Judgement): boolean {
  if (!isPart(value)) return true;
  return Object.keys(value).every((key) => fitsSchema(findPropertySchema(part, key), value[key], scope));
}

function countFits(branches: unknown, value: unknown, scope: SchemaScope): number {
  if (!Array.isArray(branches) || !branches.every(isSchema)) return 0;
  return branches.filter((branch) => fitsSchema(branch, value, scope)).length;
}

/** A property's own schema in one part, or the one for all others. */
export function findPropertySchema({ properties, additionalProperties }: SchemaPart, key: string): Schema {
  const own = isPart(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
  return isSchema(own) ? own : true;
}

export function findItemSchema({ prefixItems, items }: SchemaPart, index: number): Schema {
  const own = readSchemas(prefixItems)[index] ?? items;
  return isSchema(own) ? own : true;
}

export function readSchemas(value: unknown): Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

/** The numbers, or the texts, that the parts have for a keyword. */
export function listNumbers(parts: readonly SchemaPart[], keyword: string): number[] {
  return parts.map((part) => part[keyword]).filter(isNumber);
}

export function listTexts(parts: readonly SchemaPart[], keyword: string): string[] {
  return parts.map((part) => part[keyword]).filter((value) => typeof value === "string");
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "boolean" || isPart(value);
}

export function isPart(value: unknown): value is SchemaPart {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
