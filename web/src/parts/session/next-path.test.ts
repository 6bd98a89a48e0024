import { expect, test } from "vitest";
import { parseNextPath } from "./next-path.ts";

const origin = "https://ai.example.com";

test.for([
  ["/security", "/security"],
  ["/connect/requests/abc?x=1", "/connect/requests/abc?x=1"],
  ["/a/../security", "/security"],
])("%s is a path of this site", ([given, path]) => {
  expect(parseNextPath(given, origin)).toBe(path);
});

test.for([
  undefined,
  "",
  "https://evil.example/",
  "//evil.example/",
  "/\\evil.example/",
  "/\t/evil.example/",
  "/\n/evil.example",
  "\\\\evil.example",
  "javascript:alert(1)",
  "security",
  "/sign-in?next=/sign-in",
  "/sign-up",
  "/console/api/sign-out",
  "/v1/models",
])("%j falls back to the console", (given) => {
  expect(parseNextPath(given, origin)).toBe("/console");
});
