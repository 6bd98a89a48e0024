import { expect, test } from "vitest";
import { findVideoSize } from "./video-sizes.ts";

test.each(["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9"])(
  "%s has exactly this ratio and even sides",
  (name) => {
    const [across = 0, down = 0] = name.split(":").map(Number);
    const { width, height } = findVideoSize(name) ?? { width: 0, height: 0 };
    expect(width / height).toBeCloseTo(across / down, 10);
    expect([width % 2, height % 2]).toEqual([0, 0]);
  },
);

test("another ratio is matched as closely as even sides allow", () => {
  const { width, height } = findVideoSize("5:4") ?? { width: 0, height: 1 };
  expect(width / height).toBeCloseTo(1.25, 2);
  expect([width % 2, height % 2]).toEqual([0, 0]);
});

test.each(["", "wide", "0:1", "1:0", "5:1", "1:5", "16:9:1", "-1:1", "1e3:1", "__proto__", "1000:1000"])(
  "%j is not a ratio",
  (name) => {
    expect(findVideoSize(name)).toBeNull();
  },
);
