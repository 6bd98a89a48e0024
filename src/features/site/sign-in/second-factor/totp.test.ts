import { expect, test } from "vitest";
import { findTotpStep, presentBase32, presentTotp, presentTotpUri } from "./totp.ts";

/** Test vectors of RFC 6238, appendix B; our six digits are the last of its eight. */
const secret = Buffer.from("12345678901234567890");

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("at second %i the code is %s", (seconds, code) => {
  expect(presentTotp(secret, Math.floor(seconds / 30))).toBe(code);
  expect(findTotpStep(secret, code, new Date(seconds * 1000))).toBe(Math.floor(seconds / 30));
});

test("codes of the adjacent steps are accepted and return their step", () => {
  const step = 1000;
  const now = new Date(step * 30_000 + 15_000);
  const found = [-2, -1, 0, 1, 2].map((off) => findTotpStep(secret, presentTotp(secret, step + off), now));
  expect(found).toEqual([null, 999, 1000, 1001, null]);
});

test.each(["", "28708", "2870822", "abcdef", "28708２"])("%j is not a code", (code) => {
  expect(findTotpStep(secret, code, new Date(59_000))).toBeNull();
});

test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("%j is %s in base32 (RFC 4648)", (text, encoded) => {
  expect(presentBase32(Buffer.from(text))).toBe(encoded);
});

test("the URI contains issuer, address and secret, encoded", () => {
  const uri = presentTotpUri({ secret, email: "a+b c@example.com", issuer: "My Site" });
  expect(uri).toBe(
    "otpauth://totp/My%20Site:a%2Bb%20c%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=My%20Site",
  );
});
