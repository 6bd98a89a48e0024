import fc from "fast-check";
import { expect, test } from "vitest";
import { countRuns } from "../../../../test/harness/count-runs.ts";
import { checkBySchema } from "../../../../test/harness/schema-check.ts";
import { readHints } from "./sample-hints.ts";
import { sampleSchema } from "./schema-sample.ts";

const noHints = readHints("", "");

function sample(schema: Record<string, unknown>, question = ""): unknown {
  const found = sampleSchema(schema, readHints(question, ""));
  if (found.kind === "obstacle") throw new Error(found.message);
  return found.value;
}

const { schema: anySchema } = fc.letrec<{ schema: Record<string, unknown>; leaf: Record<string, unknown> }>((tie) => ({
  leaf: fc.oneof(
    fc.constant({}),
    fc.tuple(fc.nat(20), fc.nat(20)).map(([min, more]) => ({ type: "string", minLength: min, maxLength: min + more })),
    fc.constantFrom("date", "date-time", "email", "uri", "uuid").map((format) => ({ type: "string", format })),
    fc.constantFrom("^[a-z]{3,9}$", "^\\d+$", "^#[0-9a-f]{6}$", "a|b").map((pattern) => ({ type: "string", pattern })),
    fc.tuple(fc.integer({ min: -99, max: 99 }), fc.nat(50), fc.boolean()).map(([minimum, more, isInteger]) => ({
      type: isInteger ? "integer" : "number",
      minimum,
      maximum: minimum + more,
    })),
    fc.tuple(fc.integer({ min: -99, max: 99 }), fc.integer({ min: 2, max: 9 })).map(([above, more]) => ({
      type: "number",
      exclusiveMinimum: above,
      exclusiveMaximum: above + more,
    })),
    fc.tuple(fc.constantFrom(0.5, 2, 3, 7), fc.integer({ min: -99, max: 99 })).map(([multipleOf, minimum]) => ({
      type: "number",
      multipleOf,
      minimum,
    })),
    fc.constantFrom({ type: "boolean" }, { type: "null" }, { type: ["string", "null"] }, { type: ["null", "integer"] }),
    fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }).map((values) => ({ enum: values })),
    fc.jsonValue({ maxDepth: 1 }).map((value) => ({ const: value })),
    fc.constant({ $ref: "#/$defs/tree" }),
  ),
  schema: fc.oneof(
    { depthSize: "small", maxDepth: 3, withCrossShrink: true },
    tie("leaf"),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.string({ maxLength: 6 }), tie("schema"), { maxKeys: 4, noNullPrototype: true }),
      additionalProperties: fc.boolean(),
    }),
    fc.dictionary(fc.constantFrom("a", "b", "city"), tie("schema"), { noNullPrototype: true }).map((properties) => ({
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    })),
    fc.tuple(tie("schema"), fc.nat(4), fc.nat(3)).map(([items, minItems, more]) => ({
      type: "array",
      items,
      minItems,
      maxItems: minItems + more,
    })),
    fc.tuple(tie("schema"), tie("schema")).map((prefixItems) => ({ type: "array", prefixItems, items: false })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.tuple(tie("schema"), tie("schema")).map(([first, second]) => ({
      oneOf: [
        { type: "object", properties: { kind: { const: 1 }, first }, required: ["kind"] },
        { type: "object", properties: { kind: { const: 2 }, second }, required: ["kind"] },
      ],
    })),
    fc.tuple(tie("schema"), tie("schema")).map(([first, second]) => ({
      allOf: [
        { type: "object", properties: { first }, required: ["first"] },
        { properties: { second }, minProperties: 1 },
      ],
    })),
  ),
}));

const tree = {
  type: "object",
  properties: {
    name: { type: "string" },
    children: { type: "array", items: { $ref: "#/$defs/tree" } },
    parent: { anyOf: [{ $ref: "#/$defs/tree" }, { type: "null" }] },
  },
  required: ["name", "parent"],
  additionalProperties: false,
};

test("every satisfiable schema gets a value that another validator accepts", () => {
  fc.assert(
    fc.property(anySchema, (schema) => {
      const whole = { ...schema, $defs: { tree } };
      expect(checkBySchema(whole, sample(whole, "What is 12 in Paris?"))).toBe(null);
    }),
    { numRuns: countRuns(300) },
  );
});

const keywords =
  "type properties required enum const items minItems maxItems uniqueItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern format anyOf oneOf allOf $ref additionalProperties prefixItems minProperties maxProperties not".split(
    " ",
  );
const { value: anyKeywordValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    fc.constantFrom("string", "number", "array", "object", "integer", "#", "#/properties/type", "^a+$", "date", "("),
    fc.integer({ min: -2, max: 4 }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keywords), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

test("a nonsense schema has an obstacle or a valid value, in bounded time", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keywords), anyKeywordValue, { noNullPrototype: true }), (schema) => {
      const found = sampleSchema(schema, noHints);
      if (found.kind === "value") expect(isInvalid(schema, found.value)).toBe(false);
      else expect(found.message).toMatch(/^(?:This model|The) .*\.$/);
    }),
    { numRuns: countRuns(500) },
  );
});

/** A schema that the other validator cannot read cannot be checked. */
function isInvalid(schema: object, value: unknown): boolean {
  try {
    return checkBySchema(schema, value) !== null;
  } catch {
    return false;
  }
}

test.each([
  ["two choices that exclude each other", { allOf: [{ enum: [1] }, { enum: [2] }] }],
  ["bounds that cross", { type: "integer", minimum: 5, maximum: 4 }],
  ["a keyword that is not known", { type: "object", patternProperties: {} }],
  ["a negation", { not: {} }],
  ["a pattern that is not known", { type: "string", pattern: "(?=a)" }],
  ["a reference to nowhere", { $ref: "#/$defs/none" }],
  ["a reference to another document", { $ref: "https://example.com/schema" }],
  ["a reference that never ends", { $ref: "#" }],
  ["a tree without leaves", { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] }],
  ["a text without an end", { type: "string", minLength: 1e9 }],
  ["a list without an end", { type: "array", minItems: 1e9 }],
  ["a type that does not exist", { type: "money" }],
  ["a keyword of the wrong form", { type: "string", minLength: "3" }],
  ["more than one can be true of", { oneOf: [{ type: "string" }, { type: "string" }] }],
  ["a field that may not be there and must", { required: ["a"], additionalProperties: false, type: "object" }],
  ["something of nothing", { type: "array", items: false, minItems: 1 }],
  ["equal things that differ", { type: "array", items: { const: 1 }, minItems: 2, uniqueItems: true }],
])("%s is an obstacle", (_, schema) => {
  expect(sampleSchema(schema, noHints).kind).toBe("obstacle");
});

test("a schema with exponential work is given up", () => {
  const level = (depth: number): object =>
    depth === 0 ? { type: "money" } : { anyOf: Array.from({ length: 9 }, () => ({ $ref: `#/$defs/l${depth - 1}` })) };
  const $defs = Object.fromEntries(Array.from({ length: 9 }, (_, depth) => [`l${depth}`, level(depth)]));
  const found = sampleSchema({ $ref: "#/$defs/l8", $defs }, noHints);
  expect(found).toEqual({ kind: "obstacle", message: "The schema is too complex for this model." });
});

test("the total work of patterns is bounded", () => {
  const list = Array.from({ length: 2000 }, (_, index) => ({
    pattern: `${"[\\u0170-\\u017f]{1,3}".repeat(20)}${index}`,
  }));
  expect(sampleSchema({ type: "string", allOf: list }, noHints)).toEqual({
    kind: "obstacle",
    message: "The schema is too complex for this model.",
  });
});

test.each([
  ["^[a-z]+[0-9]+$", 10, 10],
  ["^(?:ab)*$", 7, 9],
  ["^#\\w{2,}$", 30, 40],
  ["^[\\u4e00-\\u9fa5]{2,8}$", 4, 8],
])("a text of the pattern %s can have from %d to %d characters", (pattern, minLength, maxLength) => {
  const schema = { type: "string", pattern, minLength, maxLength };
  expect(checkBySchema(schema, sample(schema))).toBe(null);
});

test("a recursive schema ends", () => {
  const value = sample({ ...tree, $defs: { tree } });
  expect(checkBySchema({ ...tree, $defs: { tree } }, value)).toBe(null);
  expect(JSON.stringify(value).length).toBeLessThan(20_000);
});

test("an optional chain ends early", () => {
  const chain = {
    type: "object",
    properties: { next: { anyOf: [{ $ref: "#" }, { type: "null" }] } },
    required: ["next"],
  };
  expect(JSON.stringify(sample(chain)).match(/next/g)?.length).toBeLessThan(6);
});

test("with overlapping branches a value that matches only one is chosen", () => {
  expect(sample({ oneOf: [{ type: "integer" }, { type: "number" }, { type: "string" }] })).toBe("value");
});

test("fields use hints from the prompt by their names", () => {
  const schema = {
    type: "object",
    properties: {
      origin: { type: "string" },
      destination: { type: "string" },
      adults: { type: "integer" },
      date: { type: "string", format: "date" },
      email: { type: "string", format: "email" },
      class: { enum: ["economy", "business"] },
      query: { type: "string" },
      postalCode: { type: "string" },
    },
  };
  const question = "Book business from New York to Lima on 2026-12-24 for 3, mail ada@example.org";
  expect(sample(schema, question)).toEqual({
    origin: "New York",
    destination: "Lima",
    adults: 3,
    date: "2026-12-24",
    email: "ada@example.org",
    class: "business",
    query: question,
    postalCode: "postal code",
  });
});

test("field names such as __proto__ have no special meaning", () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"const":1}},"required":["__proto__"]}');
  expect(JSON.stringify(sample(schema))).toBe('{"__proto__":1}');
});
