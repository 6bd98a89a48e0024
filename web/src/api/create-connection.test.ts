import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { computeBackoffMs } from "./compute-backoff.ts";
import { createConnection } from "./create-connection.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function openConnection(answers: boolean[]) {
  const probe = vi.fn(async () => answers.shift() ?? true);
  const connection = createConnection({ probe, random: () => 1 });
  const states: string[] = [];
  connection.subscribe(() => states.push(connection.getState()));
  return { connection, probe, states };
}

test("a single failed request does not mark the server as down", async () => {
  const { connection, probe, states } = openConnection([true]);
  connection.suspect();
  await vi.runAllTimersAsync();
  expect(probe).toHaveBeenCalledTimes(1);
  expect(states).toEqual([]);
});

test("one loop probes a down server until it responds, however many requests failed", async () => {
  const { connection, probe, states } = openConnection([false, false, true]);
  connection.suspect();
  connection.suspect();
  await vi.advanceTimersByTimeAsync(0);
  connection.suspect();
  expect(states).toEqual(["reconnecting"]);
  await vi.advanceTimersByTimeAsync(500 + 1_000);
  expect(probe).toHaveBeenCalledTimes(3);
  expect(states).toEqual(["reconnecting", "connected"]);
});

test("a hint that the server is back triggers an immediate probe", async () => {
  const { connection, states } = openConnection([false, true]);
  connection.suspect();
  await vi.advanceTimersByTimeAsync(0);
  connection.hurry();
  await vi.advanceTimersByTimeAsync(0);
  expect(states).toEqual(["reconnecting", "connected"]);
});

test("the backoff grows to ten seconds with up to half as jitter", () => {
  expect([0, 1, 2, 3, 4, 5, 20].map((attempt) => computeBackoffMs(attempt, () => 1))).toEqual([
    500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000,
  ]);
  expect(computeBackoffMs(2, () => 0)).toBe(1_000);
});
