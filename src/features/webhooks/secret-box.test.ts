import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createSecretBox } from "./secret-box.ts";

const masterKey = { derive: (purpose: string) => Buffer.alloc(32, purpose) };
const box = createSecretBox(masterKey, randomBytes);

test("a secret can be opened only with its owner's id and the same key", () => {
  const { text, sealed } = box.make("whe_1");
  expect(text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(box.open("whe_1", sealed)).toBe(text);
  expect(() => box.open("whe_2", sealed)).toThrow();
  const other = createSecretBox({ derive: (purpose) => Buffer.alloc(32, `${purpose}!`) }, randomBytes);
  expect(() => other.open("whe_1", sealed)).toThrow();
});

test("a modified sealed secret cannot be opened", () => {
  const { sealed } = box.make("whe_1");
  for (const place of [0, 12, 28, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[place] = (changed[place] ?? 0) ^ 1;
    expect(() => box.open("whe_1", changed)).toThrow();
  }
  expect(() => box.open("whe_1", sealed.subarray(0, 20))).toThrow();
});

test("secrets and seals are unique", () => {
  const made = Array.from({ length: 100 }, () => box.make("whe_1"));
  expect(new Set(made.map(({ text }) => text)).size).toBe(100);
  expect(new Set(made.map(({ sealed }) => sealed.toString("hex"))).size).toBe(100);
});
