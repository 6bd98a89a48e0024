import { expect, test } from "vitest";
import { requireGoodPassword } from "./check-password.ts";

const owner = { email: "lovelace@example.com", param: "password" };

test.each([
  "four random words here",
  "Tr0ub4dor&3x",
  "ひみつのことばです",
  `${"a".repeat(250)}bcdefg`,
  "lovelace and babbage",
])("%s is taken", (password) => {
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
])("%s is refused", (password) => {
  expect(() => requireGoodPassword(password, owner)).toThrow(expect.objectContaining({ param: "password" }));
});
