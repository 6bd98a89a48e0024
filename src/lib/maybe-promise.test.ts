import { expect, test } from "vitest";
import { whenHere } from "./maybe-promise.ts";

test("what is here is gone on with at once, and what is not when it comes", async () => {
  expect(whenHere(2, (value) => value + 1)).toBe(3);
  const later = whenHere(Promise.resolve(2), (value) => value + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(3);
});

test("trouble comes when the value does", async () => {
  const fail = (): never => {
    throw new Error("no");
  };
  expect(() => whenHere(1, fail)).toThrow("no");
  await expect(whenHere(Promise.resolve(1), fail)).rejects.toThrow("no");
});
