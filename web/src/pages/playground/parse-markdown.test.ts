import { expect, test } from "vitest";
import { parseInline, parseMarkdown } from "./parse-markdown.ts";

test("paragraphs, headings, lists and code are parsed", () => {
  const text = "# Title\nOne\ntwo\n\nThree\n- a\n- b\n\n2. x\n3. y\n\n```ts\nlet a = 1;\n\n- no list\n```\nEnd";
  expect(parseMarkdown(text).map(({ kind }) => kind)).toEqual([
    "heading",
    "paragraph",
    "paragraph",
    "list",
    "list",
    "code",
    "paragraph",
  ]);
  expect(parseMarkdown(text)[4]).toMatchObject({ isOrdered: true, start: 2, items: [{ length: 1 }, { length: 1 }] });
  expect(parseMarkdown(text)[5]).toEqual({ kind: "code", language: "ts", text: "let a = 1;\n\n- no list" });
});

test("HTML stays text", () => {
  expect(parseMarkdown('<img src=x onerror="alert(1)">')).toEqual([
    { kind: "paragraph", lines: [[{ kind: "text", text: '<img src=x onerror="alert(1)">' }]] },
  ]);
});

test("an unclosed code block extends to the end", () => {
  expect(parseMarkdown("```\nfirst\nsecond")).toEqual([{ kind: "code", language: "", text: "first\nsecond" }]);
});

test("items with continuation lines or blank lines between them are one list", () => {
  const [list] = parseMarkdown("1. one\n   more\n\n2. two");
  expect(list).toMatchObject({ kind: "list", items: [[{ text: "one" }, { text: " " }, { text: "more" }], [{}]] });
});

test.each([
  ["a `b*c*` d", ["text", "code", "text"]],
  ["**all** of *it*", ["strong", "text", "emphasis"]],
  ["2 * 3 * 4", ["text"]],
  ["an open `tick and **star", ["text"]],
  ["", []],
])("%s", (line, kinds) => {
  expect(parseInline(line).map(({ kind }) => kind)).toEqual(kinds);
});

test("no character is lost, however many marks are unclosed", () => {
  const line = "*a`b**c ".repeat(10_000);
  const letters = parseInline(line).flatMap(({ text }) => text.match(/[abc]/g) ?? []);
  expect(letters.join("") === "abc".repeat(10_000)).toBe(true);
});
