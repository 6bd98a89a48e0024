import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesPattern, samplePattern } from "./pattern-text.ts";
import { type Pattern, parsePattern } from "./schema-pattern.ts";

const known = [
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
  "^\\u0041\\x42$",
  "^\\S+\\s\\D$",
  "^[^\\d\\s]{2}$",
  "x{2,}y??",
  "^[a-]$",
  "^(?:a{2}){1,2}$",
  "^\\-\\/$".replace("\\-", "-"),
];

function parse(text: string): Pattern {
  const pattern = parsePattern(text);
  if (pattern === null) throw new Error(`${text} is not known`);
  return pattern;
}

test.each(known)("%s: what is made for it matches it", (text) => {
  for (const extra of [0, 1, 3]) {
    const sample = samplePattern(parse(text), extra) ?? "";
    expect(sample).toMatch(new RegExp(text, "u"));
    expect(matchesPattern(parse(text), sample)).toBe(true);
  }
});

test.each(known)("%s: matches what the language's own expressions match", (text) => {
  const own = new RegExp(text, "u");
  const unit = fc.constantFrom(..."abcdxyzAB019.-_@ /\n😀é");
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 9 }), (subject) => {
      expect(matchesPattern(parse(text), subject)).toBe(own.test(subject));
    }),
  );
});

test.each([
  "(?=a)b",
  "(?<!a)b",
  "(?<year>a)",
  "\\bword",
  "\\p{L}",
  "(a)\\1",
  "(a",
  "a)",
  "[a",
  "[z-a]",
  "*a",
  "a**",
  "a{2",
  "a{3,2}",
  "a{x}",
  "^*",
  "\\",
  "\\u00",
  "[\\D]",
  "a".repeat(501),
  "(".repeat(30) + ")".repeat(30),
])("%s is not known, and does no harm", (text) => {
  expect(parsePattern(text)).toBe(null);
});

test.each(["((((a{4}){5}){5}){5})", "(((((a?)*)*)*)*)*b", "a{301}", "(?:(?:a?){99}){99}"])(
  "%s would take too long, and is refused",
  (text) => {
    expect(parsePattern(text)).toBe(null);
  },
);

test("an expression that makes others run for ever is answered", () => {
  expect(matchesPattern(parse("^(a+)+$"), `${"a".repeat(200)}!`)).toBe(false);
});
