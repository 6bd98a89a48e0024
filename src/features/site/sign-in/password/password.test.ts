import { argon2Sync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hashPassword, standInHash, verifyPassword } from "./password.ts";

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function parsePhc(text: string) {
  const [, memory = "", passes = "", parallelism = "", salt = "", hash = ""] = phcPattern.exec(text) ?? [];
  return {
    parameters: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, "base64"),
    hash: Buffer.from(hash, "base64"),
  };
}

/** Verifies like any argon2 library, from the stored text alone. */
function verifies(phc: string, message: string): boolean {
  const { parameters, salt, hash } = parsePhc(phc);
  return argon2Sync("argon2id", { ...parameters, message, nonce: salt, tagLength: hash.length }).equals(hash);
}

describe("the stored form of a password", () => {
  test("it is a PHC string of argon2id with at least the cost that OWASP advises", async () => {
    const phc = await hashPassword("correct horse");
    expect(phc).toMatch(phcPattern);
    const { parameters, salt, hash } = parsePhc(phc);
    expect(parameters.memory).toBeGreaterThanOrEqual(19_456);
    expect(parameters.passes).toBeGreaterThanOrEqual(2);
    expect(parameters.parallelism).toBe(1);
    expect(salt).toHaveLength(16);
    expect(hash).toHaveLength(32);
  });

  test("the right password verifies, another does not", async () => {
    const phc = await hashPassword("correct horse");
    expect(verifies(phc, "correct horse")).toBe(true);
    expect(verifies(phc, "Correct horse")).toBe(false);
    expect(verifies(phc, "correct horse ")).toBe(false);
  });

  test("two accounts with the same password are stored differently", async () => {
    const [one, other] = await Promise.all([hashPassword("correct horse"), hashPassword("correct horse")]);
    expect(parsePhc(one).salt.equals(parsePhc(other).salt)).toBe(false);
    expect(parsePhc(one).hash.equals(parsePhc(other).hash)).toBe(false);
  });
});

describe("Unicode normalization of a password", () => {
  const composed = "caf\u00e9 au lait";
  const decomposed = "cafe\u0301 au lait";

  test.each([
    ["composed", composed],
    ["decomposed", decomposed],
  ])("an accent typed %s is stored composed", async (_, typed) => {
    const phc = await hashPassword(typed);
    expect(verifies(phc, composed)).toBe(true);
    expect(verifies(phc, decomposed)).toBe(false);
  });

  test("full-width letters equal their normal form", async () => {
    expect(verifies(await hashPassword("Ｐａｓｓｗｏｒｄ１"), "Password1")).toBe(true);
  });
});

describe("verifying a password", () => {
  test("the right one passes in every normalization form; others do not", async () => {
    const phc = await hashPassword("caf\u00e9 au lait");
    expect(await verifyPassword(phc, "cafe\u0301 au lait")).toBe(true);
    expect(await verifyPassword(phc, "cafe au lait")).toBe(false);
  });

  test("verification uses the stored parameters", async () => {
    const nonce = Buffer.alloc(16, 7);
    const hash = argon2Sync("argon2id", {
      message: "old",
      nonce,
      memory: 64,
      passes: 3,
      parallelism: 2,
      tagLength: 24,
    });
    const phc = `$argon2id$v=19$m=64,t=3,p=2$${nonce.toString("base64").replace(/=+$/, "")}$${hash.toString("base64")}`;
    expect(await verifyPassword(phc, "old")).toBe(true);
  });

  test("the dummy hash costs as much as a real one", async () => {
    const real = parsePhc(await hashPassword("x"));
    const { parameters, salt, hash } = parsePhc(standInHash);
    expect([parameters, salt.length, hash.length]).toEqual([real.parameters, real.salt.length, real.hash.length]);
  });
});
