import { expect, test } from "vitest";
import type { TaskSpan } from "../task-store.ts";
import { estimateFree } from "./refuse-full.ts";

const now = new Date("2026-01-01T00:10:00Z");

function span(type: TaskSpan["type"], beganSecondsAgo: number, tookSeconds: number | null = null): TaskSpan {
  const createdAt = new Date(now.getTime() - beganSecondsAgo * 1000);
  return {
    type,
    createdAt,
    finishedAt: tookSeconds === null ? null : new Date(createdAt.getTime() + tookSeconds * 1000),
  };
}

test.each([
  [
    "the rest of the usual time of whichever is over first",
    [span("video", 20), span("image", 4), span("image", 50, 12), span("video", 300, 90)],
    8,
  ],
  ["ten seconds where none has ended yet", [span("image", 2), span("image", 1)], 8],
  ["the time of others where none of its type has ended", [span("speech", 5), span("image", 50, 12)], 7],
  ["a second at least", [span("image", 12), span("image", 50, 12)], 1],
  ["a minute at most", [span("video", 10), span("video", 400, 300)], 60],
])("a task beyond the limit gets a Retry-After: %s", (_name, spans, seconds) => {
  expect(estimateFree(spans, now)).toBe(seconds * 1000);
});
