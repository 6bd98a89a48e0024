import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonShape } from "../../lib/json-shape.ts";
import { confirmText, forgetText, keepText, shareText, writeObject } from "../../lib/json-text.ts";
import { createJsonScanner } from "./json-scanner.ts";

type Fields = Record<string, unknown>;

function scan(text: string | Buffer, chunkBytes = 7) {
  const bytes = Buffer.from(text);
  const scanner = createJsonScanner({ structureMax: 1e6, escapesMax: 1e6 });
  for (let at = 0; at < bytes.length; at += chunkBytes) scanner.add(bytes.subarray(at, at + chunkBytes));
  const outline = scanner.outline();
  if (outline === null) throw new Error("The object has too many fields.");
  return outline;
}

function shapeOf(value: Fields): JsonShape {
  const shape = new JsonShape();
  shape.add(value, 64);
  return shape;
}

/** Parses an object as a route with `keepsText` does, and confirms it as the checks of a request do. */
function parseKept(text: string, chunkBytes?: number): Fields {
  const parsed = JSON.parse(text) as Fields;
  keepText(parsed, Buffer.from(text), scan(text, chunkBytes));
  confirmText(parsed, shapeOf(parsed));
  return parsed;
}

function write(text: string, changes: Fields): string {
  return String(writeObject({ ...parseKept(text), ...changes }));
}

const space = fc.constantFrom("", "", " ", "\n\t");
const literal = fc.constantFrom(
  ...["0", "-1", "12345678901234567890", "1e400", "-1E400", "1E-7", "0.10", "1e2", `1${"0".repeat(400)}`],
  ...["true", "false", "null", '""', '"漢"', '"{[,:]}"', '"\\\\"', '"\\""', '"\\ud800"', '"\\u0000"', '"\\n"'],
);
const name = fc.constantFrom(
  ...[
    '"model"',
    '"mod\\u0065l"',
    '"max_tokens"',
    '"stream"',
    '"messages"',
    '"tools"',
    '"a"',
    '"7"',
    '"__proto__"',
    '""',
  ],
);
const { object } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, literal, tie("list"), tie("object")),
  list: fc
    .tuple(fc.array(tie("value"), { maxLength: 4 }), space)
    .map(([items, gap]) => `[${gap}${items.join(`,${gap}`)}]`),
  object: fc
    .tuple(fc.array(fc.tuple(name, space, tie("value")), { maxLength: 6 }), space)
    .map(
      ([fields, gap]) =>
        `{${gap}${fields.map(([key, more, value]) => `${key}${more}:${more}${value}${gap}`).join(`,${gap}`)}}`,
    ),
}));
const change = fc.dictionary(
  fc.constantFrom("model", "max_tokens", "stream", "messages", "user"),
  fc.constantFrom<unknown>("theirs", 4096, true, undefined, [{ role: "user" }]),
);

describe("an object with its text is written like one without it", () => {
  test("to any parser, whatever its text looks like and whichever fields change", () => {
    fc.assert(
      fc.property(object, change, fc.integer({ min: 1, max: 40 }), (text, changes, chunkBytes) => {
        const written = String(writeObject({ ...parseKept(text, chunkBytes), ...changes }));
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify({ ...JSON.parse(text), ...changes })));
        // No name occurs twice, so no parser can read another value.
        expect(scan(written).names).toBe(shapeOf(JSON.parse(written) as Fields).names);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['{"model":"ours","model":"other"}', '{"model":"theirs"}'],
    ['{"model":"ours","tools":[{"type":"a","type":"b"}]}', '{"model":"theirs","tools":[{"type":"b"}]}'],
    ['{"model":"ours","seed":1e999}', '{"model":"theirs","seed":null}'],
  ])("a text that parsers read differently is not copied: %s", (text, written) => {
    expect(write(text, { model: "theirs" })).toBe(written);
  });
});

describe("the bytes of unchanged fields are copied", () => {
  const text =
    '{ "mod\\u0065l" : "ours",\n "messages": [ {"model":"x", "n": 12345678901234567890} ] , "max_tokens":1.0 }';

  test("with whitespace, escapes and the digits of large numbers", () => {
    expect(write(text, { model: "theirs" })).toBe(
      '{"model":"theirs",\n "messages": [ {"model":"x", "n": 12345678901234567890} ] , "max_tokens":1.0 }',
    );
  });

  test("fields are added and left out", () => {
    expect(write(text, { model: undefined, max_tokens: undefined, user: "u" })).toBe(
      '{\n "messages": [ {"model":"x", "n": 12345678901234567890} ] ,"user":"u"}',
    );
    expect(write('{"model":"ours"}', { model: undefined })).toBe("{}");
  });

  test("also into another object with the same values", () => {
    const parsed = parseKept(text);
    const copy = { messages: parsed.messages };
    shareText(parsed, copy);
    expect(String(writeObject(copy))).toBe('{\n "messages": [ {"model":"x", "n": 12345678901234567890} ] }');
  });

  test("unless a value inside a field has changed, or the text was not confirmed", () => {
    const changed = parseKept(text);
    forgetText(changed);
    confirmText(changed, shapeOf(changed));
    expect(writeObject(changed)).toBe(JSON.stringify(changed));
    const unchecked = JSON.parse(text) as Fields;
    keepText(unchecked, Buffer.from(text), scan(text));
    expect(writeObject(unchecked)).toBe(JSON.stringify(unchecked));
  });
});
