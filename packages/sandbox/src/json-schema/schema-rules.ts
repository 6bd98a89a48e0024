import { isDeepStrictEqual } from "node:util";

/** A caller's JSON Schema, which may be malformed. */
export type Schema = boolean | SchemaPart;
export type SchemaPart = Readonly<Record<string, unknown>>;

/** The state while one value is built or validated. */
export type SchemaScope = {
  root: Schema;
  /** Counts the work: a schema can require more than its length suggests. */
  steps: number;
  /** Texts built for a pattern. Only these are known to match it. */
  matches: Map<string, Set<string>>;
};

/** The schema requires something that the sandbox cannot produce. The message is for the caller. */
export class SchemaObstacleError extends Error {
  override readonly name = "SchemaObstacleError";
}

const stepsMax = 20_000;
const comparisonsPerStep = 50;
const annotations = new Set(
  "$schema $id $comment $defs definitions title description default example examples deprecated readOnly writeOnly nullable".split(
    " ",
  ),
);

type Rule = (wanted: unknown, value: unknown, scope: SchemaScope) => boolean;

/** Every supported keyword and its check. No value satisfies a malformed keyword. */
const rules: ReadonlyMap<string, Rule> = new Map(
  Object.entries<Rule>({
    enum: (list, value, scope) => listItems(list, scope).some((item) => isDeepStrictEqual(item, value)),
    const: (wanted, value) => isDeepStrictEqual(wanted, value),
    type: (type, value, scope) => listItems([type].flat(), scope).some((name) => isOfType(value, name)),
    minimum: (min, value) => typeof value !== "number" || (isNumber(min) && value >= min),
    maximum: (max, value) => typeof value !== "number" || (isNumber(max) && value <= max),
    exclusiveMinimum: (min, value) => typeof value !== "number" || (isNumber(min) && value > min),
    exclusiveMaximum: (max, value) => typeof value !== "number" || (isNumber(max) && value < max),
    multipleOf: (step, value) =>
      typeof value !== "number" || (isNumber(step) && step > 0 && Number.isInteger(value / step)),
    minLength: (min, value) => typeof value !== "string" || (isNumber(min) && Array.from(value).length >= min),
    maxLength: (max, value) => typeof value !== "string" || (isNumber(max) && Array.from(value).length <= max),
    pattern: (pattern, value, scope) =>
      typeof value !== "string" || scope.matches.get(String(pattern))?.has(value) === true,
    format: (format) => typeof format === "string",
    minItems: (min, value) => !Array.isArray(value) || (isNumber(min) && value.length >= min),
    maxItems: (max, value) => !Array.isArray(value) || (isNumber(max) && value.length <= max),
    uniqueItems: (isWanted, value, scope) => isWanted === false || (isWanted === true && !hasTwins(value, scope)),
    prefixItems: areSchemas,
    items: isSchema,
    required: (keys, value, scope) =>
      Array.isArray(keys) &&
      (!isPart(value) || listItems(keys, scope).every((key) => Object.hasOwn(value, String(key)))),
    minProperties: (min, value) => !isPart(value) || (isNumber(min) && Object.keys(value).length >= min),
    maxProperties: (max, value) => !isPart(value) || (isNumber(max) && Object.keys(value).length <= max),
    properties: (map) => isPart(map) && areSchemas(Object.values(map)),
    additionalProperties: isSchema,
    anyOf: (branches, value, scope) =>
      areSchemas(branches) && branches.some((branch) => fitsSchema(branch, value, scope)),
    oneOf: (branches, value, scope) =>
      areSchemas(branches) && branches.filter((branch) => fitsSchema(branch, value, scope)).length === 1,
  }),
);

/** Whether a value is valid for the schema. */
export function fitsSchema(schema: Schema, value: unknown, scope: SchemaScope): boolean {
  return fitsParts(collectParts([schema], scope), value, scope);
}

/** Parts have no references and no `allOf`. */
export function fitsParts(parts: readonly SchemaPart[], value: unknown, scope: SchemaScope): boolean {
  return parts.every(
    (part) =>
      Object.entries(part).every(([keyword, wanted]) => rules.get(keyword)?.(wanted, value, scope) !== false) &&
      listItems(value).every((item, index) => fitsSchema(findItemSchema(part, index), item, scope)) &&
      listFields(value).every(([key, field]) => fitsSchema(findPropertySchema(part, key), field, scope)),
  );
}

/** All schemas that a value must satisfy, with references resolved and `allOf` flattened. */
export function collectParts(schemas: readonly Schema[], scope: SchemaScope): SchemaPart[] {
  const parts: SchemaPart[] = [];
  const left = [...schemas];
  for (const schema of left) {
    spendSteps(scope, 1);
    if (schema === true) continue;
    // `false` allows nothing, like an empty enum.
    const { $ref: reference, allOf = [], ...part } = schema === false ? { enum: [] } : schema;
    const unknown = Object.keys(part).find(
      (keyword) => !annotations.has(keyword) && !keyword.startsWith("x-") && !rules.has(keyword),
    );
    if (unknown !== undefined || !areSchemas(allOf)) {
      const keyword = JSON.stringify((unknown ?? "allOf").slice(0, 40));
      throw new SchemaObstacleError(`This model does not support the keyword ${keyword}.`);
    }
    parts.push(part);
    if (reference !== undefined) left.push(followReference(String(reference), scope.root));
    for (const one of allOf) left.push(one);
  }
  return parts;
}

function followReference(reference: string, root: Schema): Schema {
  const [before, ...steps] = reference.split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const found = steps.reduce<unknown>((place, step) => findOwn(place, step), root);
  if (before === "#" && isSchema(found)) return found;
  throw new SchemaObstacleError("The schema refers to a place that is not in it.");
}

export function isSpent(scope: SchemaScope): boolean {
  return scope.steps > stepsMax;
}

export function spendSteps(scope: SchemaScope, steps: number): void {
  scope.steps += steps;
  if (isSpent(scope)) throw new SchemaObstacleError("The schema is too complex for this model.");
}

function isOfType(value: unknown, name: unknown): boolean {
  if (name === "integer") return Number.isInteger(value);
  return name === (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
}

function hasTwins(value: unknown, scope: SchemaScope): boolean {
  const list = listItems(value);
  spendSteps(scope, list.length ** 2 / comparisonsPerStep);
  return list.some((item, index) => list.slice(0, index).some((earlier) => isDeepStrictEqual(earlier, item)));
}

/** The items of a list. Counts the comparisons. */
function listItems(value: unknown, scope?: SchemaScope): readonly unknown[] {
  const list = Array.isArray(value) ? value : [];
  if (scope !== undefined) spendSteps(scope, list.length / comparisonsPerStep);
  return list;
}

function listFields(value: unknown): [string, unknown][] {
  return isPart(value) ? Object.entries(value) : [];
}

/** A property's own schema, or the one for all others. */
export function findPropertySchema({ properties, additionalProperties }: SchemaPart, key: string): Schema {
  const found = findOwn(properties, key) ?? additionalProperties;
  return isSchema(found) ? found : true;
}

export function findItemSchema({ prefixItems, items }: SchemaPart, index: number): Schema {
  const found = findOwn(prefixItems, String(index)) ?? items;
  return isSchema(found) ? found : true;
}

/** Ignores inherited properties. */
function findOwn(place: unknown, key: string): unknown {
  return typeof place === "object" && place !== null && Object.hasOwn(place, key) ? Reflect.get(place, key) : undefined;
}

export function readSchemas(value: unknown): Schema[] {
  return areSchemas(value) ? value : [];
}

/** The numbers that the parts have for a keyword. */
export function listNumbers(parts: readonly SchemaPart[], keyword: string): number[] {
  return parts.map((part) => part[keyword]).filter(isNumber);
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "boolean" || isPart(value);
}

function areSchemas(value: unknown): value is Schema[] {
  return Array.isArray(value) && value.every(isSchema);
}

export function isPart(value: unknown): value is SchemaPart {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
