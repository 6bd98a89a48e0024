import { expect, test } from "vitest";
import { samplePattern } from "./pattern-sample.ts";
import { SchemaObstacleError } from "./schema-rules.ts";

test.each([
  "^[a-z]+$",
  "^[a-z0-9]+(?:-[a-z0-9]+)*$",
  "^\\d{3}-\\d{4}$",
  "^(?:red|green|blue)$",
  "^[A-Z]{2}\\d{2,4}[^a-c]?$",
  "^a.c$",
  "b+",
  "^(a|bc)*d$",
  "\\.$",
  "^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$",
  "^$",
  "^a|b$",
  "^\\u0041\\x42$",
  "^\\S+\\s\\D$",
  "^[^\\d\\s]{2}$",
  "x{2,}y??",
  "^[a-]$",
  "^\\p{L}[\\]\\]]$",
  "^(?:a{2}){1,2}$",
  "^-\\/$",
  "^(a+)+$",
])("%s: its sample matches it", (pattern) => {
  for (const extra of [0, 1, 3]) expect(samplePattern(pattern, extra)).toMatch(new RegExp(pattern, "u"));
});

test.each([
  "(?=a)b",
  "(?<!a)b",
  "(?<year>a)",
  "\\bword",
  "(a)\\1",
  "a$b",
  "b^a",
  "(^a)",
  "(a",
  "a)",
  "[a",
  "[z-a]",
  "[]",
  "*a",
  "a**",
  "a{2",
  "a{3,2}",
  "a{x}",
  "^*",
  "\\",
  "\\u00",
  "a".repeat(501),
  "a{301}",
  "(?:(?:a{2}){99}){99}",
  "(".repeat(30) + ")".repeat(30),
])("%s is unsupported and harmless", (pattern) => {
  expect(() => samplePattern(pattern, 0)).toThrow(SchemaObstacleError);
});
