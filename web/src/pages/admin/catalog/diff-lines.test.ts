import { expect, test } from "vitest";
import { diffLines } from "./diff-lines.ts";

function write(before: string, after: string): string {
  const marks = { same: " ", added: "+", removed: "-" };
  return diffLines(before, after)
    .map(({ kind, text }) => marks[kind] + text)
    .join(" ");
}

test("lines that differ are removed and added, the others stay", () => {
  expect(write("a\nb\nc", "a\nx\nc")).toBe(" a -b +x  c");
  expect(write("a\nb\nc\nd", "b\nc\nnew\nd")).toBe("-a  b  c +new  d");
  expect(write("a\nb", "a\nb")).toBe(" a  b");
  expect(write("a\na", "a")).toBe(" a -a");
  expect(write("", "a")).toBe("- +a");
});

test("a very long difference is shown as a whole", () => {
  const [old, next] = ["o", "n"].map((word) => Array.from({ length: 2500 }, (_, at) => `${word}${at}`).join("\n"));
  const kinds = diffLines(old ?? "", next ?? "").map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "removed")).toHaveLength(2500);
  expect(kinds.filter((kind) => kind === "added")).toHaveLength(2500);
});
