import type { SampleHints } from "./sample-hints.ts";
import { listNumbersToTry, listTexts } from "./scalar-samples.ts";
import {
  collectParts,
  findItemSchema,
  findPropertySchema,
  fitsParts,
  isPart,
  isSpent,
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
/** Below this depth only required parts are built, so that recursive schemas end. */
const depthOfExtras = 4;
const itemsMax = 100;
const usualItems = 2;
/** The keywords that imply a type, most likely type first. */
const signsOfTypes: readonly [type: string, signs: readonly string[]][] = [
  ["object", ["properties", "required", "additionalProperties", "minProperties"]],
  ["array", ["items", "prefixItems", "minItems"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];
const scalarTypes = ["string", "number", "integer", "boolean", "null"];

/**
 * Builds a value that is valid for a JSON Schema, deterministically. Bounded for any schema: returns a value, or the
 * reason why there is none.
 */
export function sampleSchema(schema: Schema, hints: SampleHints): SchemaSample {
  const scope: Scope = { root: schema, steps: 0, matches: new Map(), hints, namesTaken: 0, numbersTaken: 0 };
  try {
    return { kind: "value", value: sample([schema], { name: "value", depth: 0 }, scope) };
  } catch (error) {
    if (error instanceof SchemaObstacleError) return { kind: "obstacle", message: error.message };
    throw error;
  }
}

/** The first candidate that fits. */
function sample(schemas: readonly Schema[], place: Place, scope: Scope): unknown {
  if (place.depth > depthMax) throw new SchemaObstacleError("The schema is nested too deeply for this model.");
  const parts = collectParts(schemas, scope);
  let obstacle = new SchemaObstacleError("The schema allows no value in one of its places.");
  for (const think of listThoughts(parts, place, scope)) {
    try {
      const found = think().find((value) => fitsParts(parts, value, scope));
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof SchemaObstacleError) || isSpent(scope)) throw error;
      obstacle = error;
    }
  }
  throw obstacle;
}

/** Sources of candidates: the listed values, else each branch, else each type. */
function listThoughts(parts: readonly SchemaPart[], place: Place, scope: Scope): (() => readonly unknown[])[] {
  const listing = parts.find((part) => part.enum !== undefined || Object.hasOwn(part, "const"));
  if (listing !== undefined) return [() => listChoices(listing, scope.hints.question.toLowerCase())];
  const branching = parts.find(({ anyOf, oneOf }) => anyOf !== undefined || oneOf !== undefined);
  if (branching === undefined) return listTypes(parts).map((type) => () => thinkOf(type, parts, place, scope));
  const { anyOf, oneOf, ...rest } = branching;
  const others = [...parts.filter((part) => part !== branching), rest];
  const branches = orderBranches(readSchemas(anyOf ?? oneOf), place.depth);
  return branches.map((branch) => () => [sample([...others, branch], place, scope)]);
}

/** Values that the prompt mentions, then all. */
function listChoices(listing: SchemaPart, question: string): readonly unknown[] {
  const listed: unknown[] = Array.isArray(listing.enum) ? listing.enum : [listing.const];
  const isNamed = (value: unknown): boolean =>
    typeof value === "string" && value !== "" && question.includes(value.toLowerCase());
  return [...listed.filter(isNamed), ...listed];
}

/** At depth, branches that end come first. */
function orderBranches(branches: readonly Schema[], depth: number): readonly Schema[] {
  const isEnd = (branch: Schema): boolean => isPart(branch) && scalarTypes.includes(String(branch.type));
  return depth < depthOfExtras
    ? branches
    : branches.toSorted((one, other) => Number(isEnd(other)) - Number(isEnd(one)));
}

/** The named types, or all, most likely first; `null` last. */
function listTypes(parts: readonly SchemaPart[]): string[] {
  const named = parts.flatMap(({ type }) => type ?? []).map(String);
  const likely = signsOfTypes.filter(([, signs]) => signs.some((sign) => parts.some((part) => sign in part)));
  const types = named.length > 0 ? named : [...likely.map(([type]) => type), ...scalarTypes, "object", "array"];
  return [...new Set(types)].toSorted((one, other) => Number(one === "null") - Number(other === "null"));
}

function thinkOf(type: string, parts: readonly SchemaPart[], place: Place, scope: Scope): readonly unknown[] {
  switch (type) {
    case "string":
      return listTexts(parts, { name: place.name, hints: scope.hints, hint: takeHint(place.name, scope) }, scope);
    case "number":
    case "integer":
      return listNumbersToTry(parts, scope.hints.numbers[scope.numbersTaken++], type === "integer");
    case "boolean":
      return [true];
    case "null":
      return [null];
    case "array":
      return thinkOfLists(parts, place, scope);
    case "object":
      return thinkOfObjects(parts, place, scope);
    default:
      throw new SchemaObstacleError("The schema has a type that does not exist.");
  }
}

/** Which hint fits which field name. */
const hintsByName: readonly [name: RegExp, hint: Exclude<keyof SampleHints, "numbers">][] = [
  [/mail/i, "mail"],
  [/url|link|website/i, "url"],
  [/date|day/i, "date"],
  [/city|country|location|place|town|name|person|origin|destination|^from$|^to$/i, "names"],
  [/answer|result|summary|reply|explanation|description/i, "answer"],
  [/query|question|text|prompt|message|input|topic|content|body|expression/i, "question"],
];

/** The first name goes into the first name field, and so on; the last one repeats. */
function takeHint(name: string, scope: Scope): string | null {
  const kind = hintsByName.find(([pattern]) => pattern.test(name))?.[1];
  if (kind !== "names") return kind === undefined ? null : scope.hints[kind];
  scope.namesTaken += 1;
  return scope.hints.names[Math.min(scope.namesTaken, scope.hints.names.length) - 1] ?? null;
}

/** One of usual length, and the shortest. */
function thinkOfLists(parts: readonly SchemaPart[], place: Place, scope: Scope): unknown[][] {
  const countMin = Math.max(0, ...listNumbers(parts, "minItems"));
  const countMax = Math.min(itemsMax, ...listNumbers(parts, "maxItems"));
  if (countMin > countMax) throw new SchemaObstacleError("The schema asks for a list that is too long.");
  const tuple = Math.max(0, ...parts.map(({ prefixItems }) => readSchemas(prefixItems).length));
  const usual = tuple > 0 ? tuple : place.depth >= depthOfExtras ? 0 : usualItems;
  const list: unknown[] = [];
  while (list.length < Math.min(Math.max(usual, countMin), countMax)) {
    const schemas = parts.map((part) => findItemSchema(part, list.length));
    const name = list.length === 0 ? place.name : `${place.name} ${list.length + 1}`;
    const item = sampleInside(schemas, { name, depth: place.depth + 1, isNeeded: list.length < countMin }, scope);
    if (item === undefined) break;
    list.push(item);
  }
  return [list, list.slice(0, Math.max(1, countMin)), list.slice(0, countMin)];
}

/** One with all fields, and one with only the required ones. */
function thinkOfObjects(parts: readonly SchemaPart[], place: Place, scope: Scope): Record<string, unknown>[] {
  const required = new Set(parts.flatMap((part) => (Array.isArray(part.required) ? part.required.map(String) : [])));
  const named = parts.flatMap(({ properties }) => (isPart(properties) ? Object.keys(properties) : []));
  const fields = [...new Set([...named, ...required])].flatMap((key) => {
    const isNeeded = required.has(key);
    if (!isNeeded && place.depth >= depthOfExtras) return [];
    const schemas = parts.map((part) => findPropertySchema(part, key));
    const value = sampleInside(schemas, { name: key, depth: place.depth + 1, isNeeded }, scope);
    return value === undefined ? [] : [[key, value] as const];
  });
  return [fields, fields.filter(([key]) => required.has(key))].map((each) => Object.fromEntries(each));
}

/** `undefined` for an optional value that cannot be built. */
function sampleInside(schemas: readonly Schema[], place: Place & { isNeeded: boolean }, scope: Scope): unknown {
  try {
    return sample(schemas, place, scope);
  } catch (error) {
    if (place.isNeeded || !(error instanceof SchemaObstacleError) || isSpent(scope)) throw error;
    return undefined;
  }
}
