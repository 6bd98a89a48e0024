import { expect, test } from "vitest";
import { chooseWorst, judgeDay, judgeRecent, presentUptime } from "./judge-traffic.ts";

test.for([
  [0, 0, "none", null],
  [1, 1, "few", null],
  [19, 19, "few", null],
  [20, 0, "ok", 100],
  [10_000, 1, "ok", 99.99],
  [100_000, 1, "ok", 99.99],
  [100, 1, "ok", 99],
  [100, 2, "degraded", 98],
  [100, 6, "down", 94],
] as const)("%i calls of which %i failed are %s", ([calls, failed, state, uptime]) => {
  expect(judgeDay({ calls, failed })).toBe(state);
  expect(presentUptime({ calls, failed })).toBe(uptime);
});

test("recent calls count from ten on, and the worst state wins", () => {
  expect(judgeRecent({ calls: 9, failed: 9 })).toBe("ok");
  expect(judgeRecent({ calls: 10, failed: 1 })).toBe("ok");
  expect(judgeRecent({ calls: 10, failed: 2 })).toBe("degraded");
  expect(judgeRecent({ calls: 10, failed: 6 })).toBe("down");
  expect(chooseWorst([])).toBe("ok");
  expect(chooseWorst(["degraded", "ok"])).toBe("degraded");
  expect(chooseWorst(["degraded", "down", "ok"])).toBe("down");
});
