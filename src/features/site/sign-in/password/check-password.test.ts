import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { requireGoodPassword } from "./check-password.ts";

const owner = { email: "lovelace@example.com", param: "password" };

test.each([
  "four random words here",
  "Tr0ub4dor&3x",
  "ひみつのことばです",
  `${"a".repeat(250)}bcdefg`,
  "lovelace and babbage",
])("%s is accepted", (password) => {
  expect(() => requireGoodPassword(password, owner)).not.toThrow();
});

test.each([
  "1234567",
  "x".repeat(257),
  "password",
  "PASSWORD",
  "P@ssw0rd",
  "password2026",
  "!!password!!",
  "iloveyou123",
  "12345678",
  "98765432",
  "abcdefghij",
  "qwertyuiop",
  "aaaaaaaaa",
  "abcabcabcabc",
  "lovelace1815",
  "Lovelace@example.com",
])("%s is rejected", (password) => {
  expect(() => requireGoodPassword(password, owner)).toThrow(expect.objectContaining({ param: "password" }));
});

describe("the most common passwords", () => {
  const file = join(import.meta.dirname, "../../../../../assets/passwords/common-passwords.txt.gz");
  const common = gunzipSync(readFileSync(file)).toString().trim().split("\n");
  const listTaken = (passwords: readonly string[]): string[] =>
    passwords.filter((password) => {
      try {
        requireGoodPassword(password, owner);
        return true;
      } catch {
        return false;
      }
    });

  test("are the 3,000 most common of all, and the 3,000 most common that are long enough", () => {
    expect(common.length).toBeGreaterThanOrEqual(3000);
    expect(common.filter((word) => word.length >= 8).length).toBeGreaterThanOrEqual(3000);
    expect(common.slice(0, 3)).toEqual(["123456", "password", "12345678"]);
  });

  test("are rejected as they are, in capitals, and capitalized", () => {
    const spelled = common.flatMap((word) => [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)]);
    expect(listTaken(spelled)).toEqual([]);
  });

  test("are rejected with digits or signs around them, doubled, and in leetspeak", () => {
    const words = common.filter((word) => /^[a-z]{4,}$/.test(word));
    expect(words.length).toBeGreaterThan(1500);
    const disguise = (word: string): string =>
      word.replaceAll("a", "@").replaceAll("e", "3").replaceAll("o", "0").replaceAll("s", "$");
    const varied = words.flatMap((word) => [
      ...[`${word}1234`, `${word}2026!`, `!!${word}!!`, `1${word}99`, word + word, `${word}${word}1`],
      `${disguise(word)}1234`,
    ]);
    expect(listTaken(varied)).toEqual([]);
  });
});
