import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIdempotencyKey } from "./claim-key.ts";

const refusal = expect.objectContaining({ code: "invalid_parameter", param: "Idempotency-Key" });

describe("an Idempotency-Key", () => {
  test("is any visible text of 1 to 255 characters, bare or in quotes", () => {
    const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
    const keys = fc.array(visible, { minLength: 1, maxLength: 255 }).map((characters) => characters.join(""));
    fc.assert(
      fc.property(keys, (key) => {
        expect(parseIdempotencyKey(`"${key}"`)).toBe(key);
        if (!/^".*"$/.test(key)) expect(parseIdempotencyKey(key)).toBe(key);
      }),
    );
  });

  test("may be absent", () => {
    expect(parseIdempotencyKey(undefined)).toBeNull();
  });

  test.each([
    ["nothing", ""],
    ["nothing in quotes", '""'],
    ["a space", " "],
    ["a space inside", "a b"],
    ["a tab", "a\tb"],
    ["a line end", "a\n"],
    ["a line end in quotes", '"a\n"'],
    ["a letter beyond ASCII", "é"],
    ["an invisible character", "a\u007f"],
    ["256 characters", "k".repeat(256)],
    ["256 characters in quotes", `"${"k".repeat(256)}"`],
  ])("is rejected when it is %s", (_name, text) => {
    expect(() => parseIdempotencyKey(text)).toThrow(refusal);
  });

  test("may be a single quote character", () => {
    expect(parseIdempotencyKey('"')).toBe('"');
  });

  test("sent in several headers is joined with commas", () => {
    expect(parseIdempotencyKey(["a", "b"])).toBe("a,b");
  });
});
