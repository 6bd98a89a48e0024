import { expect, test } from "vitest";
import { createRestartDelays } from "./restart-delays.ts";

test("restarts back off within a minute, and the tenth crash gives up", () => {
  const delays = createRestartDelays();
  const seen = Array.from({ length: 10 }, (_, index) => delays.note(index * 1000));
  expect(seen).toEqual([0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, null]);
});

test("crashes older than a minute do not count", () => {
  const delays = createRestartDelays();
  for (let minute = 0; minute < 100; minute += 1) expect(delays.note(minute * 60_000)).toBe(0);
});
