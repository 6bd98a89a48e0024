import { expect, test } from "vitest";
import { canFetchLoopback } from "./deliver-callback.ts";

test.for(["localhost", "127.0.0.1", "[::1]"])("a page on %s reaches local programs", (hostname) => {
  expect(canFetchLoopback(hostname, "prompt")).toBe(true);
});

test("a remote page reaches them only with the browser's permission, and never prompts", () => {
  expect(canFetchLoopback("ai.example.com", "granted")).toBe(true);
  for (const permission of ["prompt", "denied", null] as const) {
    expect(canFetchLoopback("ai.example.com", permission)).toBe(false);
  }
});
