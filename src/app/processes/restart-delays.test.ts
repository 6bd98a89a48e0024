import { expect, test } from "vitest";
import { createRestartDelays } from "./restart-delays.ts";

test("the first death of a minute is repaired at once, later ones ever later, and the tenth not at all", () => {
  const delays = createRestartDelays();
  const seen = Array.from({ length: 10 }, (_, index) => delays.note(index * 1000));
  expect(seen).toEqual([0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, null]);
});

test("deaths of more than a minute ago are forgotten", () => {
  const delays = createRestartDelays();
  for (let minute = 0; minute < 100; minute += 1) expect(delays.note(minute * 60_000)).toBe(0);
});
