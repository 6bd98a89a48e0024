import type { SampleHints } from "./sample-hints.ts";
import { sampleNumber, sampleText } from "./scalar-samples.ts";
import {
  collectParts,
  findItemSchema,
  findPropertySchema,
  fitsPart,
  fitsSchema,
  hasTwins,
  isPart,
  listNumbers,
  readSchemas,
  type Schema,
  SchemaObstacleError,
  type SchemaPart,
  type SchemaScope,
} from "./schema-rules.ts";

export type SchemaSample = { kind: "value"; value: unknown } | { kind: "obstacle"; message: string };

type Scope = SchemaScope & { hints: SampleHints; namesTaken: number; numbersTaken: number };
type Place = { name: string; depth: number };

const depthMax = 12;
/** Below this, only what must be there is made: schemas that contain themselves come to an end. */
const depthOfExtras = 4;
const itemsMax = 100;
const usualItems = 2;
const scalarTypes = ["string", "number", "integer", "boolean", "null"];

/**
 * Makes a value that is valid for a JSON Schema, always the same for the same schema and hints. The schema is a caller's:
 * whatever it is, this ends soon, with a value or with the reason why there is none.
 */
export function sampleSchema(schema: Schema, hints: SampleHints): SchemaSample {
  const scope: Scope = { root: schema, steps: 0, matches: new Map(), hints, namesTaken: 0, numbersTaken: 0 };
  try {
    const value = sample([schema], { name: "value", depth: 0 }, scope);
    if (fitsSchema(schema, value, scope)) return { kind: "value", value };
    return { kind: "obstacle", message: "This model found no value for the schema." };
  } catch (error) {
    if (error instanceof SchemaObstacleError) return { kind: "obstacle", message: error.message };
    throw error;
  }
}

function sample(schemas: readonly Schema[], place: Place, scope: Scope): unknown {
  if (place.depth > depthMax) throw new SchemaObstacleError("The schema is nested too deeply for this model.");
  const parts = collectParts(schemas, scope);
  const choices = parts.find((part) => part.enum !== undefined || Object.hasOwn(part, "const"));
  if (choices !== undefined) return sampleChoice(choices, parts, scope);
  const branching = parts.find((part) => part.anyOf !== undefined || part.oneOf !== undefined);
  if (branching !== undefined) return sampleBranch(branching, parts, place, scope);
  return findFirst(listTypes(parts), (type) => sampleType(type, parts, place, scope));
}

/** The first of the ways that leads to a value. */
function findFirst<T>(ways: readonly T[], go: (way: T) => unknown): unknown {
  let obstacle = new SchemaObstacleError("The schema allows no value in one of its places.");
  for (const way of ways) {
    try {
      return go(way);
    } catch (error) {
      if (!(error instanceof SchemaObstacleError) || error.isFinal) throw error;
      obstacle = error;
    }
  }
  throw obstacle;
}

/** One that the prompt speaks of, else the first. */
function sampleChoice(choices: SchemaPart, parts: readonly SchemaPart[], scope: Scope): unknown {
  const listed: unknown[] = Array.isArray(choices.enum) ? choices.enum : [choices.const];
  const question = scope.hints.question.toLowerCase();
  const isNamed = (value: unknown): boolean =>
    typeof value === "string" && value !== "" && question.includes(value.toLowerCase());
  const named = listed.filter(isNamed);
  return findFirst([...named, ...listed], (value) => {
    if (parts.every((part) => fitsPart(part, value, scope))) return value;
    throw new SchemaObstacleError("The schema allows no value in one of its places.");
  });
}

function sampleBranch(branching: SchemaPart, parts: readonly SchemaPart[], place: Place, scope: Scope): unknown {
  const keyword = branching.anyOf !== undefined ? "anyOf" : "oneOf";
  const { [keyword]: branches, ...rest } = branching;
  const others = parts.filter((part) => part !== branching);
  return findFirst(orderBranches(readSchemas(branches), place.depth), (branch) => {
    const value = sample([...others, rest, branch], place, scope);
    if (parts.every((part) => fitsPart(part, value, scope))) return value;
    throw new SchemaObstacleError("The schema allows no value in one of its places.");
  });
}

/** Deep down, branches that end there come first. */
function orderBranches(branches: readonly Schema[], depth: number): readonly Schema[] {
  if (depth < depthOfExtras) return branches;
  const isEnd = (branch: Schema): boolean => isPart(branch) && scalarTypes.includes(String(branch.type));
  return [...branches.filter(isEnd), ...branches.filter((branch) => !isEnd(branch))];
}

/** The types that all parts allow, the likeliest first, nothing last. */
function listTypes(parts: readonly SchemaPart[]): string[] {
  const lists = parts.flatMap(({ type }) => (type === undefined ? [] : [Array.isArray(type) ? type : [type]]));
  const wide = lists.map((list): unknown[] => (list.includes("number") ? [...list, "integer"] : list));
  const all = [...guessTypes(parts), "string", "number", "integer", "boolean", "object", "array", "null"];
  const ordered = [...new Set(lists.length === 0 ? all : lists.flat())].map(String);
  const allowed = ordered.filter((type) => wide.every((list) => list.includes(type)));
  return [...allowed.filter((type) => type !== "null"), ...allowed.filter((type) => type === "null")];
}

function guessTypes(parts: readonly SchemaPart[]): string[] {
  const has = (...keywords: string[]): boolean => parts.some((part) => keywords.some((keyword) => keyword in part));
  return [
    ...(has("properties", "required", "additionalProperties", "minProperties") ? ["object"] : []),
    ...(has("items", "prefixItems", "minItems") ? ["array"] : []),
    ...(has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf") ? ["number"] : []),
  ];
}

function sampleType(type: string, parts: readonly SchemaPart[], place: Place, scope: Scope): unknown {
  switch (type) {
    case "string":
      return sampleText(parts, { name: place.name, hints: scope.hints, hint: takeHint(place.name, scope) }, scope);
    case "number":
    case "integer":
      return sampleNumber(parts, { isInteger: type === "integer", hint: takeNumber(scope) }, scope);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return sampleList(parts, place, scope);
    case "object":
      return sampleObject(parts, place, scope);
    default:
      throw new SchemaObstacleError("The schema has a type that does not exist.");
  }
}

/** Which hint belongs into a field of which name. */
const hintsByName: readonly [name: RegExp, hint: keyof SampleHints][] = [
  [/mail/i, "mail"],
  [/url|link|website/i, "url"],
  [/date|day/i, "date"],
  [/city|country|location|place|town|name|person|origin|destination|^from$|^to$/i, "names"],
  [/answer|result|summary|reply|explanation|description/i, "answer"],
  [/query|question|text|prompt|message|input|topic|content|body|expression/i, "question"],
];

/** The first name goes into the first field for names, and so on; the last one is used again. */
function takeHint(name: string, scope: Scope): string | null {
  const kind = hintsByName.find(([pattern]) => pattern.test(name))?.[1];
  if (kind !== "names") return kind === undefined || kind === "numbers" ? null : scope.hints[kind];
  const { names } = scope.hints;
  scope.namesTaken += 1;
  return names[Math.min(scope.namesTaken, names.length) - 1] ?? null;
}

function takeNumber(scope: Scope): number | undefined {
  scope.numbersTaken += 1;
  return scope.hints.numbers[scope.numbersTaken - 1];
}

function sampleList(parts: readonly SchemaPart[], place: Place, scope: Scope): unknown[] {
  const countMin = Math.max(0, ...listNumbers(parts, "minItems"));
  const countMax = Math.min(itemsMax, ...listNumbers(parts, "maxItems"));
  if (countMin > countMax) throw new SchemaObstacleError("The schema asks for a list that is too long.");
  const tuple = Math.max(0, ...parts.map(({ prefixItems }) => readSchemas(prefixItems).length));
  const usual = tuple > 0 ? tuple : place.depth >= depthOfExtras ? 0 : usualItems;
  const count = Math.min(Math.max(usual, countMin), countMax);
  const isUnique = parts.some(({ uniqueItems }) => uniqueItems === true);
  const list: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const schemas = parts.map((part) => findItemSchema(part, index));
    const name = index === 0 ? place.name : `${place.name} ${index + 1}`;
    const item = attempt(() => sample(schemas, { name, depth: place.depth + 1 }, scope), index < countMin);
    if (item === undefined || (isUnique && index >= countMin && hasTwins([...list, item]))) break;
    list.push(item);
  }
  return list;
}

function sampleObject(parts: readonly SchemaPart[], place: Place, scope: Scope): Record<string, unknown> {
  const required = new Set(parts.flatMap((part) => (Array.isArray(part.required) ? part.required.map(String) : [])));
  const named = parts.flatMap(({ properties }) => (isPart(properties) ? Object.keys(properties) : []));
  const countMax = Math.min(...listNumbers(parts, "maxProperties"), Number.POSITIVE_INFINITY);
  const countMin = Math.max(0, ...listNumbers(parts, "minProperties"));
  let extrasLeft = countMax - required.size;
  const fields = new Map<string, unknown>();

  function addField(key: string, isRequired: boolean): void {
    if (!isRequired && extrasLeft <= 0) return;
    const schemas = parts.map((part) => findPropertySchema(part, key));
    const value = attempt(() => sample(schemas, { name: key, depth: place.depth + 1 }, scope), isRequired);
    if (value === undefined) return;
    fields.set(key, value);
    if (!isRequired) extrasLeft -= 1;
  }

  for (const key of new Set([...named, ...required])) {
    if (required.has(key) || place.depth < depthOfExtras || fields.size < countMin) addField(key, required.has(key));
  }
  for (let index = 1; fields.size < countMin && index <= itemsMax; index += 1) addField(`field${index}`, false);
  return Object.fromEntries(fields);
}

/** `undefined` for what could not be made and need not be there. */
function attempt(make: () => unknown, isNeeded: boolean): unknown {
  try {
    return make();
  } catch (error) {
    if (isNeeded || !(error instanceof SchemaObstacleError) || error.isFinal) throw error;
    return undefined;
  }
}
