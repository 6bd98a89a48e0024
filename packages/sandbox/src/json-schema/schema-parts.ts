import { type Pattern, parsePattern } from "./schema-pattern.ts";

/** A JSON Schema, as a caller sends it: checked keyword by keyword where it is used. */
export type Schema = boolean | SchemaPart;
export type SchemaPart = Readonly<Record<string, unknown>>;

/** What is known while one value is made. */
export type SchemaScope = {
  root: Schema;
  /** Grows with everything that is looked at: a schema can ask for more work than its length shows. */
  steps: number;
  patterns: Map<string, Pattern | null>;
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
const unfoldingMax = 16;

const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean => typeof value === "string";
const isList = (value: unknown): boolean => Array.isArray(value);
const isSchemaList = (value: unknown): boolean => Array.isArray(value) && value.every(isSchema);
const isSchemaMap = (value: unknown): boolean => isPart(value) && Object.values(value).every(isSchema);
const isAnything = (): boolean => true;

/** Every keyword that is understood, and the form that it must have. */
const keywordForms: Record<string, (value: unknown) => boolean> = {
  $ref: isText,
  $defs: isAnything,
  definitions: isAnything,
  type: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  enum: isList,
  const: isAnything,
  properties: isSchemaMap,
  required: (value) => Array.isArray(value) && value.every(isText),
  additionalProperties: isSchema,
  minProperties: isCount,
  maxProperties: isCount,
  items: isSchema,
  prefixItems: isSchemaList,
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: (value) => typeof value === "boolean",
  minLength: isCount,
  maxLength: isCount,
  pattern: isText,
  format: isText,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => isNumber(value) && Number(value) > 0,
  anyOf: isSchemaList,
  oneOf: isSchemaList,
  allOf: isSchemaList,
};

const annotations = new Set(
  "$schema $id $comment title description default example examples deprecated readOnly writeOnly nullable".split(" "),
);

export function spendStep(scope: SchemaScope, steps = 1): void {
  scope.steps += steps;
  if (scope.steps <= stepsMax) return;
  throw new SchemaObstacleError("The schema is too complex for this model.", { isFinal: true });
}

/** The schemas that a value must all fit, with references followed and `allOf` laid open. */
export function collectParts(schemas: readonly Schema[], scope: SchemaScope, unfoldings = 0): SchemaPart[] {
  if (unfoldings > unfoldingMax) throw new SchemaObstacleError("The schema refers to itself without an end.");
  return schemas.flatMap((schema) => {
    spendStep(scope);
    if (schema === true) return [];
    // "false" allows nothing, and so does a choice of nothing.
    if (schema === false) return [{ enum: [] }];
    checkKeywords(schema);
    const { $ref: reference, allOf, ...part } = schema;
    const others = [
      ...(typeof reference === "string" ? [followReference(reference, scope.root)] : []),
      ...readSchemas(allOf),
    ];
    return others.length === 0 ? [part] : [part, ...collectParts(others, scope, unfoldings + 1)];
  });
}

function checkKeywords(schema: SchemaPart): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (annotations.has(keyword) || keyword.startsWith("x-")) continue;
    const isWellFormed = Object.hasOwn(keywordForms, keyword) ? keywordForms[keyword] : undefined;
    if (isWellFormed === undefined) {
      throw new SchemaObstacleError(`This model does not support the keyword ${JSON.stringify(keyword.slice(0, 40))}.`);
    }
    if (!isWellFormed(value)) throw new SchemaObstacleError(`The value of the keyword "${keyword}" is not valid.`);
  }
}

function followReference(reference: string, root: Schema): Schema {
  const [before, ...steps] = reference.split("/");
  let found: unknown = root;
  for (const step of steps) {
    const key = unescapeStep(step);
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, key);
    found = isThere ? Reflect.get(Object(found), key) : undefined;
  }
  if (before === "#" && isSchema(found)) return found;
  throw new SchemaObstacleError("The schema refers to a place that is not in it.");
}

function unescapeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    // A percent sign that escapes nothing stands for itself.
    return step;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "boolean" || isPart(value);
}

export function isPart(value: unknown): value is SchemaPart {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function readSchemas(value: unknown): Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

/** A property's own schema in one part, or the one for all others. */
export function findPropertySchema(part: SchemaPart, key: string): Schema {
  const { properties, additionalProperties } = part;
  const own = isPart(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
  return isSchema(own) ? own : true;
}

export function findItemSchema(part: SchemaPart, index: number): Schema {
  const own = readSchemas(part.prefixItems)[index] ?? part.items;
  return isSchema(own) ? own : true;
}

/** The numbers that the parts have for a keyword. */
export function listNumbers(parts: readonly SchemaPart[], keyword: string): number[] {
  return parts.map((part) => part[keyword]).filter((value) => typeof value === "number");
}

export function listTexts(parts: readonly SchemaPart[], keyword: string): string[] {
  return parts.map((part) => part[keyword]).filter((value) => typeof value === "string");
}

export function getPattern(text: string, scope: SchemaScope): Pattern {
  const pattern = scope.patterns.get(text) ?? parsePattern(text);
  scope.patterns.set(text, pattern);
  if (pattern === null) throw new SchemaObstacleError("This model does not support one of the patterns in the schema.");
  return pattern;
}
