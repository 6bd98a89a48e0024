import fc from "fast-check";
import type { Schema } from "./openapi-document.ts";

/** Values that exist in the gateway under test, by the name of their field. */
export type Hints = Readonly<Record<string, readonly unknown[]>>;

/** Values that a schema allows; mostly hints for fields that have them. */
export function arbitraryOf(schema: Schema, hints: Hints, name = ""): fc.Arbitrary<unknown> {
  const hint = hints[name];
  if (hint !== undefined) return fc.constantFrom(...hint);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms !== undefined) return fc.oneof(...forms.map((form) => arbitraryOf(form, hints, name)));
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type: string) => arbitraryOf({ ...schema, type }, hints, name)));
  }
  switch (schema.type) {
    case "object":
      return objectOf(schema, hints);
    case "array": {
      const { minItems = 0, maxItems = minItems + 2 } = schema;
      const lengths = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 2) };
      return fc.array(arbitraryOf(schema.items ?? {}, hints, name), lengths);
    }
    case "string":
      return textOf(schema);
    case "integer":
      return fc.integer(boundsOf(schema));
    case "number":
      return fc.double({ ...boundsOf(schema), noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return anyJson;
  }
}

function objectOf(schema: Schema, hints: Hints): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const needed = required.filter((name) => Object.hasOwn(properties, name));
  const optional = Object.keys(properties).filter((name) => !needed.includes(name));
  // A few at a time: many together contradict each other.
  const record = fc.subarray(optional, { maxLength: Math.min(optional.length, 2) }).chain((chosen) => {
    const fields = [...needed, ...chosen].map(
      (name) => [name, arbitraryOf(properties[name] ?? {}, hints, name)] as const,
    );
    return fc.record(Object.fromEntries(fields));
  });
  if (typeof additionalProperties !== "object") return record;
  const more = fc.dictionary(anyName, arbitraryOf(additionalProperties, hints), { maxKeys: 3 });
  return fc.tuple(record, more).map(([known, others]) => ({ ...others, ...known }));
}

function boundsOf({ minimum = -1000, maximum = minimum + 1_000_000 }: Schema): { min: number; max: number } {
  return { min: minimum, max: maximum };
}

const anyJson = fc.jsonValue({ maxDepth: 2 });
const anyName = fc.stringMatching(/^[a-z0-9]{1,8}$/);

/** Like `fc.webUrl`, which takes three seconds of CPU time to list every percent-encoded character. */
const anyUrl = fc
  .tuple(
    fc.constantFrom("http", "https"),
    fc.domain(),
    fc.array(fc.string({ maxLength: 8, unit: "grapheme" }).map(encodeURIComponent), { maxLength: 3 }),
  )
  .map(([scheme, domain, segments]) => `${scheme}://${[domain, ...segments].join("/")}`);

const formats: Record<string, fc.Arbitrary<string>> = {
  "date-time": fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  date: fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
  uri: anyUrl,
  email: fc.emailAddress(),
};

/** Kept, because making one takes longer than drawing from it. */
const textsBySchema = new Map<string, fc.Arbitrary<string>>();

function textOf({ pattern, format = "", minLength = 0, maxLength = minLength + 20 }: Schema): fc.Arbitrary<string> {
  const key = JSON.stringify([pattern, format, minLength, maxLength]);
  const text = textsBySchema.get(key) ?? makeText();
  textsBySchema.set(key, text);
  return text;

  function makeText(): fc.Arbitrary<string> {
    if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
    const formatted = formats[format];
    if (formatted !== undefined) return formatted;
    return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 20), unit: "grapheme" });
  }
}
