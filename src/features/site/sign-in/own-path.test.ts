import { expect, test } from "vitest";
import { chooseOwnPath } from "./own-path.ts";

const siteUrl = "https://ai.example.com";

test.each(["/security", "/connect/requests/x?y=1&z=%2F%2Fa", "/"])("%s is a path of this site", (next) => {
  expect(chooseOwnPath(next, siteUrl)).toBe(next);
});

test.each([
  undefined,
  "",
  "security",
  "https://evil.example",
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/.//evil.example",
  "/x/..//evil.example",
  "/\t/evil.example",
  "/%2e//evil.example",
  "javascript:alert(1)",
  `/${"x".repeat(1000)}`,
])("%j falls back to the console", (next) => {
  expect(chooseOwnPath(next, siteUrl)).toBe("/console");
});
