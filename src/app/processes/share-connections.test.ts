import { expect, test } from "vitest";
import { shareConnections } from "./share-connections.ts";

test.each([
  [
    [16, 16],
    [0, 0],
  ],
  [
    [18, 14],
    [0, 0],
  ],
  [
    [32, 0],
    [16, 0],
  ],
  [
    [24, 8],
    [8, 0],
  ],
  [
    [3, 0],
    [0, 0],
  ],
  [
    [1000, 1100, 300],
    [200, 300, 0],
  ],
  [[7], [0]],
])("of %j connections, %j are closed to reconnect", (counts, shed) => {
  expect(shareConnections(counts)).toEqual(shed);
});
