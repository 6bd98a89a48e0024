import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createKeyText, hashKey, hashKeyOf, isWellFormedKey, keyPrefix } from "./key-text.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomCharacters = 30;

/** Computed with Python's zlib and hashlib. */
const knownKey = "sk-slc-0123456789ABCDEFGHIJKLMNOPQRST0Hy266";
const knownHash = "095037d0d6b687c052d612f28e8c2e10fa01579dfa25415415c61cf0ce16d930";

/** Any valid key. */
const keyText = fc
  .array(fc.nat({ max: alphabet.length - 1 }), { minLength: randomCharacters, maxLength: randomCharacters })
  .map((bytes) => createKeyText(() => Uint8Array.from(bytes)));

const letter = fc.constantFrom(...alphabet);

function replaceAt(text: string, position: number, replacement: string): string {
  return text.slice(0, position) + replacement + text.slice(position + replacement.length);
}

function presentBase62(value: number): string {
  return [5, 4, 3, 2, 1, 0].map((place) => alphabet.charAt(Math.floor(value / 62 ** place) % 62)).join("");
}

/** Returns the given bytes, then zeros. */
function bytesInOrder(bytes: readonly number[]): (count: number) => Uint8Array {
  const rest = [...bytes];
  return (count) => Uint8Array.from({ length: count }, () => rest.shift() ?? 0);
}

describe("creating a key", () => {
  test("a key is sk-slc- and 36 base62 characters, and is well-formed", () => {
    for (let count = 0; count < 1000; count += 1) {
      const text = createKeyText(randomBytes);
      expect(text).toMatch(/^sk-slc-[0-9A-Za-z]{36}$/);
      expect(isWellFormedKey(text)).toBe(true);
    }
  });

  test("byte n becomes letter n", () => {
    const bytes = Array.from({ length: randomCharacters }, (_, index) => index);
    expect(createKeyText(bytesInOrder(bytes))).toBe(knownKey);
  });

  test("the last six characters are the CRC-32 of the rest", () => {
    expect(alphabet.length ** 6).toBeGreaterThan(2 ** 32);
    fc.assert(
      fc.property(keyText, (text) => {
        expect(text.slice(-6)).toBe(presentBase62(crc32(text.slice(0, -6))));
      }),
    );
  });

  test("bytes that would bias the letters are rejected", () => {
    const unfair = [248, 249, 250, 251, 252, 253, 254, 255];
    const text = createKeyText(bytesInOrder([...unfair, 247, ...unfair, 61, 62]));
    expect(text.slice(keyPrefix.length, -6)).toBe(`zz0${"0".repeat(27)}`);
  });

  test("random bytes are drawn again until enough are accepted", () => {
    let calls = 0;
    const text = createKeyText((count) => new Uint8Array(count).fill(calls++ < 3 ? 255 : 1));
    expect(text.slice(keyPrefix.length, -6)).toBe("1".repeat(randomCharacters));
  });

  test("uniform bytes give every letter equally often", () => {
    let byte = 0;
    const keys = Array.from({ length: 124 }, () =>
      createKeyText((count) => Uint8Array.from({ length: count }, () => byte++ % 256)),
    );
    const letters = keys.map((text) => text.slice(keyPrefix.length, -6)).join("");
    const counts = Map.groupBy(letters, (character) => character);
    expect(counts.size).toBe(62);
    for (const found of counts.values()) expect(found).toHaveLength(60);
  });
});

describe("detecting a mistyped key", () => {
  test("changing any character of a known key is detected", () => {
    for (let position = 0; position < knownKey.length; position += 1) {
      for (const other of alphabet) {
        const changed = replaceAt(knownKey, position, other);
        expect(isWellFormedKey(changed), changed).toBe(changed === knownKey);
      }
    }
  });

  test("changing one character is detected in every key", () => {
    const position = fc.nat({ max: 35 }).map((index) => keyPrefix.length + index);
    fc.assert(
      fc.property(keyText, position, letter, (text, at, other) => {
        fc.pre(text.charAt(at) !== other);
        expect(isWellFormedKey(replaceAt(text, at, other))).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test("swapping two different neighbours in the random part is detected in every key", () => {
    const position = fc.nat({ max: randomCharacters - 2 }).map((index) => keyPrefix.length + index);
    fc.assert(
      fc.property(keyText, position, (text, at) => {
        const [one, other] = [text.charAt(at), text.charAt(at + 1)];
        fc.pre(one !== other);
        expect(isWellFormedKey(replaceAt(text, at, other + one))).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["nothing", ""],
    ["the prefix alone", keyPrefix],
    ["one character too few", knownKey.slice(0, -1)],
    ["one character too many", `${knownKey}0`],
    ["a space before it", ` ${knownKey}`],
    ["a line break after it", `${knownKey}\n`],
    ["a space inside it", replaceAt(knownKey, 20, " ")],
    ["another service's prefix", knownKey.replace("sk-slc-", "sk-abc-")],
    ["no prefix", knownKey.slice(keyPrefix.length)],
    ["the prefix in capitals", knownKey.replace("sk-slc-", "SK-SLC-")],
    ["a letter outside ASCII", replaceAt(knownKey, 20, "é")],
    ["a digit of another script", replaceAt(knownKey, 7, "٠")],
    ["full-width letters", knownKey.replace("sk", "ｓｋ")],
    ["an emoji", replaceAt(knownKey, 20, "🔑")],
  ])("%s is rejected", (_, text) => {
    expect(isWellFormedKey(text)).toBe(false);
  });

  test.each([`sk-slc-${"0".repeat(29)}`, `sk-slc-${"0".repeat(31)}`, `x sk-slc-${"0".repeat(30)}`, ""])(
    "%j with a valid checksum is still no key",
    (body) => {
      expect(isWellFormedKey(body + presentBase62(crc32(body)))).toBe(false);
    },
  );
});

test("hashKey is SHA-256", () => {
  expect(hashKey(knownKey)).toBe(knownHash);
});

test("every key of a connection has its own hash, whichever came before", () => {
  const texts = [...Array.from({ length: 3 }, () => createKeyText(randomBytes)), "sk-slc-", "x".repeat(1000)];
  const connection = {};
  for (const text of [...texts, ...texts.toReversed(), ...texts])
    expect(hashKeyOf(connection, text)).toBe(hashKey(text));
});
