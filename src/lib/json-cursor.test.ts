import fc from "fast-check";
import { expect, test } from "vitest";
import { schema, text } from "../../test/harness/chat/json-texts.ts";
import { unicodeText } from "../../test/harness/unicode-text.ts";
import { createWordTable, type JsonCursor, readOutline } from "./json-cursor.ts";
import { JsonShape } from "./json-shape.ts";

const limits = { structureMax: 1000, escapesMax: 10_000 };

function accepts(bytes: Buffer): boolean {
  const read = (cursor: JsonCursor): true => {
    cursor.skipValue(0);
    return cursor.peek() === -1 ? true : cursor.refuse();
  };
  return readOutline(bytes, limits, read) === true;
}

test("what passes is valid JSON that every parser reads alike: no name twice, no number beyond a double, no deep nesting", () => {
  let accepted = 0;
  fc.assert(
    fc.property(schema, fc.nat(), fc.string({ unit: "binary-ascii", maxLength: 2 }), (json, at, change) => {
      const place = at % (json.length + 1);
      for (const changed of [json, json.slice(0, place) + change + json.slice(place + 1)]) {
        if (!accepts(Buffer.from(changed))) continue;
        accepted += 1;
        const shape = new JsonShape();
        shape.add(JSON.parse(changed), 64);
        expect(shape).toMatchObject({ isTooDeep: false, hasInfinities: false });
        // Names that occur twice would be fewer after parsing.
        expect(shape.names).toBe(changed.replace(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1);
      }
    }),
    { numRuns: 2000 },
  );
  expect(accepted).toBeGreaterThan(500);
});

const anyText = fc.oneof(
  unicodeText(),
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc.string({ unit: "grapheme-ascii", minLength: 10, maxLength: 5000 }),
);

test("a string's length is that of the parsed string, wherever it is in memory", () => {
  const read = (cursor: JsonCursor): number => {
    cursor.readText();
    return cursor.textUnits;
  };
  fc.assert(
    fc.property(anyText, fc.nat({ max: 7 }), fc.boolean(), (value, shift, isEscaped) => {
      const json = JSON.stringify(value);
      const written = isEscaped ? json.replace(/[^\x20-\x7e]/g, writeEscapes) : json;
      const bytes = Buffer.from(`${" ".repeat(shift)}${written}`).subarray(shift);
      expect(readOutline(bytes, limits, read)).toBe(value.length);
    }),
  );
  fc.assert(fc.property(text, (json) => readOutline(Buffer.from(json), limits, read) === JSON.parse(json).length));
});

function writeEscapes(unit: string): string {
  return Array.from({ length: unit.length }, (_, at) => `\\u${unit.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
    "",
  );
}

test.each([
  '"\u0001"',
  '"a',
  '"a\\"',
  '"\\q"',
  '"\\u12g4"',
  '{"a":1,"a":2}',
  '{"\\u0061":1}',
  "1e400",
  "01",
  "[1,]",
  '{"a"}',
  "{}x",
])("%s does not pass", (json) => {
  expect(accepts(Buffer.from(json))).toBe(false);
});

test("a text beyond a limit does not pass", () => {
  expect(accepts(Buffer.from(`[${"1,".repeat(998)}1]`))).toBe(true);
  expect(accepts(Buffer.from(`[${"1,".repeat(1000)}1]`))).toBe(false);
  expect(accepts(Buffer.from(`"${"\\n".repeat(10_001)}"`))).toBe(false);
});

test("names are told apart by their bytes, in any order, each at most once", () => {
  const table = createWordTable(["role", "content", "name"]);
  const readFields = (json: string): number | null =>
    readOutline(Buffer.from(json), limits, (cursor) => cursor.readObject(table, () => cursor.skipValue(1)));
  expect(readFields('{"role":1,"content":[]}')).toBe(3);
  expect(readFields('{"name":1,"role":{}}')).toBe(5);
  expect(readFields("{}")).toBe(0);
  for (const json of ['{"rol":1}', '{"rolex":1}', '{"role":1,"role":2}', '{"other":1}', '{"\\u0072ole":1}']) {
    expect(readFields(json)).toBeNull();
  }
});
