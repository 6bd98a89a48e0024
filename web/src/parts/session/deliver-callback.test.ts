import { expect, test } from "vitest";
import { canFetchLoopback } from "./deliver-callback.ts";

test.for(["localhost", "127.0.0.1", "[::1]"])("a page on %s reaches programs beside it", (hostname) => {
  expect(canFetchLoopback(hostname, "prompt")).toBe(true);
});

test("a page elsewhere reaches them only with the browser's permission, and never asks for it", () => {
  expect(canFetchLoopback("ai.example.com", "granted")).toBe(true);
  for (const permission of ["prompt", "denied", null] as const) {
    expect(canFetchLoopback("ai.example.com", permission)).toBe(false);
  }
});
