import { expect, test } from "vitest";
import { joinToolName, listNamespacedTools } from "./tool-namespaces.ts";

test("a name that is too long is cut, stays unique and maps back", () => {
  const namespace = "n".repeat(60);
  const tools = ["first_of_them", "second_of_them"].map((name) => ({ type: "function", name }));
  const found = listNamespacedTools([{ entry: { type: "namespace", name: namespace, tools }, place: "tools[0]" }]);
  expect([...found.keys()].map((name) => name.length)).toEqual([64, 64]);
  expect(found.get(joinToolName({ namespace, name: "second_of_them" }))).toEqual({ namespace, name: "second_of_them" });
});

test("short names stay readable", () => {
  expect(joinToolName({ namespace: "crm", name: "find" })).toBe("crm__find");
});
