import { expect, test } from "vitest";
import { presentRows } from "./present-rows.ts";

test("columns are aligned, two spaces after the widest cell", () => {
  const text = presentRows(
    ["ID", "EMAIL", "STATE"],
    [
      ["acct_1", "a@example.com", "active"],
      ["acct_22222", "b@b.b", "revoked"],
    ],
  );
  expect(text).toBe(
    [
      "ID          EMAIL          STATE", //
      "acct_1      a@example.com  active",
      "acct_22222  b@b.b          revoked",
    ].join("\n"),
  );
});

test("a heading wider than its cells sets the width", () => {
  expect(presentRows(["ACCOUNT", "N"], [["a", "1"]])).toBe("ACCOUNT  N\na        1");
});

test("no line ends in spaces", () => {
  expect(presentRows(["NAME", "NOTE"], [["long name", ""]])).toBe("NAME       NOTE\nlong name");
});

test("without rows only the heading is printed", () => {
  expect(presentRows(["ID", "NAME"], [])).toBe("ID  NAME");
});

test("control characters in a cell become a space", () => {
  expect(presentRows(["A", "B"], [["one\ntwo", "\u001b[2Jthree"]])).toBe("A        B\none two   [2Jthree");
});
