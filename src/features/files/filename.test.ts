import fc from "fast-check";
import { expect, test } from "vitest";
import { unicodeText } from "../../../test/harness/unicode-text.ts";
import { cleanFilename, presentDisposition } from "./filename.ts";

const names = unicodeText({ maxLength: 400 });

test("a cleaned name has 1 to 255 characters, none of which means anything to a disk or a terminal", () => {
  fc.assert(
    fc.property(names, (given) => {
      const name = cleanFilename(given);
      expect([...name].length).toBeGreaterThanOrEqual(1);
      expect([...name].length).toBeLessThanOrEqual(255);
      expect(name).not.toMatch(/[\p{Cc}/\\\u202e]/u);
      expect(name.isWellFormed()).toBe(true);
    }),
  );
});

test("a name round-trips through its header and cannot escape its quotes", () => {
  fc.assert(
    fc.property(names, (given) => {
      const name = cleanFilename(given);
      const header = presentDisposition(name);
      const [, plain = "", encoded = ""] =
        /^inline; filename="([^"\\]+)"; filename\*=UTF-8''([\w.!#$&+^`|~%-]+)$/.exec(header) ?? [];
      expect(plain).toMatch(/^[\x20-\x7e]+$/);
      expect(decodeURIComponent(encoded)).toBe(name);
    }),
  );
});

test.each([
  [undefined, "file"],
  ["", "file"],
  ["  ", "file"],
  ["a/b", "ab"],
  ["../x", "..x"],
  ["e\u0301.png", "é.png"],
  ["\ud800x", "\ufffdx"],
])("%j becomes %j", (given, name) => {
  expect(cleanFilename(given)).toBe(name);
});
