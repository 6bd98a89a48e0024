import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { repeat } from "./repeat.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("work is repeated at its own interval, by one timer, until it is stopped", () => {
  const calls = { often: 0, seldom: 0 };
  const stopOften = repeat(500, () => {
    calls.often += 1;
  });
  const stopSeldom = repeat(2_000, () => {
    calls.seldom += 1;
  });
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(4_000);
  expect(calls).toEqual({ often: 8, seldom: 2 });
  stopOften();
  stopOften();
  vi.advanceTimersByTime(4_000);
  expect(calls).toEqual({ often: 8, seldom: 4 });
  stopSeldom();
  expect(vi.getTimerCount()).toBe(0);
});
