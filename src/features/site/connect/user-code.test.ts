import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { makeUserCode, readUserCode } from "./user-code.ts";

describe("the user code", () => {
  test("has eight consonants, and is parsed however it is typed", () => {
    for (let round = 0; round < 200; round += 1) {
      const code = makeUserCode(randomBytes);
      expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
      const plain = code.replace("-", "");
      for (const typed of [code, plain, plain.toLowerCase(), ` ${plain.slice(0, 3)} ${plain.slice(3)}\t`]) {
        expect(readUserCode(typed)).toBe(code);
      }
    }
  });

  test("letters are uniformly distributed: bytes beyond a multiple of the alphabet are redrawn", () => {
    const bytes = [240, 255, 239, 240, 0, 20, 19, 250, 39, 1, 21, 220];
    const draw = (count: number): Uint8Array => Uint8Array.from(bytes.splice(0, count));
    expect(makeUserCode(draw)).toBe("ZBBZ-ZCCB");
    expect(bytes).toEqual([]);
  });

  test.each(["", "BCDF", "BCDF-GHJKL", "ABCD-EFGH", "BCDF-GHJ0", "ВСDF-GHJK", "BCDF_GHJK", "B".repeat(64)])(
    "%j is not a code",
    (typed) => {
      expect(readUserCode(typed)).toBeNull();
    },
  );
});
