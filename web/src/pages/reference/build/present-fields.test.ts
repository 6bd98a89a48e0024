import { expect, test } from "vitest";
import { presentBody, presentField } from "./present-fields.ts";

test("types are named in words, whatever they are composed of", () => {
  const name = (schema: Parameters<typeof presentField>[1]) => presentField("x", schema).type;
  expect(name({ type: "string" })).toBe("string");
  expect(name({ anyOf: [{ type: "integer" }, { type: "null" }] })).toBe("integer or null");
  expect(name({ type: ["object", "null"] })).toBe("object or null");
  expect(name({ type: "array", items: { type: "array", items: { type: "integer" } } })).toBe(
    "list of lists of integers",
  );
  expect(name({ type: "object", additionalProperties: { type: "string" } })).toBe("map of strings");
  expect(name({ type: "string", format: "binary" })).toBe("file");
  expect(name({ enum: ["a", "b"] })).toBe("string");
  expect(name({})).toBe("any value");
});

test("limits, defaults and allowed values are listed, also for nullable values", () => {
  expect(presentField("n", { type: "integer", minimum: 1, maximum: 100, default: 20 }, { isRequired: true })).toEqual({
    name: "n",
    type: "integer",
    isRequired: true,
    facts: ["default 20", "1 to 100"],
  });
  expect(presentField("v", { anyOf: [{ enum: ["a", "b"] }, { type: "null" }] })).toMatchObject({
    values: ['"a"', '"b"'],
  });
  const text = { type: "string", minLength: 1, maxLength: 1 };
  expect(presentField("t", text).facts).toEqual(["1 character"]);
  expect(presentField("l", { type: "array", items: text, maxItems: 3 }).facts).toEqual(["at most 3 items"]);
});

test("nested fields are listed, in lists too, and each variant is named by its discriminator", () => {
  const text = {
    type: "object",
    properties: { type: { enum: ["text"] }, text: { type: "string" } },
    required: ["text"],
  };
  const image = { type: "object", properties: { type: { enum: ["image"] }, url: { type: "string" } } };
  const { fields } = presentBody({ type: "object", properties: { parts: { type: "array", items: text } } });
  expect(fields[0]?.fields?.map(({ name, isRequired }) => [name, isRequired])).toEqual([
    ["type", undefined],
    ["text", true],
  ]);
  const either = presentField("parts", {
    anyOf: [{ type: "string" }, { type: "array", items: { oneOf: [text, image] } }],
  });
  expect(either.type).toBe("string or list of objects");
  expect(either.variants?.map(({ title }) => title)).toEqual(['type: "text"', 'type: "image"']);
});
