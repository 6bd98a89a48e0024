import { expect, test } from "vitest";
import { writeLiteral } from "./write-literal.ts";

const value = { model: "a", "odd-name": [true, null, 1.5], text: 'He said "no"\n' };

test("a value that fits is written on one line, in the language's syntax", () => {
  expect(writeLiteral(value, "typescript")).toBe(
    '{ model: "a", "odd-name": [true, null, 1.5], text: "He said \\"no\\"\\n" }',
  );
  expect(writeLiteral(value, "python")).toBe(
    '{"model": "a", "odd-name": [True, None, 1.5], "text": "He said \\"no\\"\\n"}',
  );
  expect(writeLiteral({}, "python")).toBe("{}");
});

test("a longer one has a line per field, recursively", () => {
  const long = { list: ["x".repeat(50), "y".repeat(50)], short: [1, 2] };
  expect(writeLiteral(long, "python", { indent: 4 })).toBe(
    [
      "{",
      '        "list": [',
      `            "${"x".repeat(50)}",`,
      `            "${"y".repeat(50)}",`,
      "        ],",
      '        "short": [1, 2],',
      "    }",
    ].join("\n"),
  );
  expect(writeLiteral([1, 2], "typescript", { before: 90 })).toBe("[\n  1,\n  2,\n]");
});
