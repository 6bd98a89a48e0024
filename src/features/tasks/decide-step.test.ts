import { expect, test } from "vitest";
import { choosePollDelayMs, decideStep } from "./decide-step.ts";
import type { Task } from "./task.ts";

const now = new Date("2026-11-15T12:00:00Z");
const later = new Date(now.getTime() + 60_000);

type Case = Partial<Pick<Task, "phase" | "deadlineAt" | "cancelRequestedAt" | "cancelAskedAt" | "request">>;

const image = { type: "image", prompt: "p", width: 1, height: 1, count: 1 } as const;

function decide(fields: Case): string {
  const task = {
    request: image,
    phase: "ready",
    deadlineAt: later,
    cancelRequestedAt: null,
    cancelAskedAt: null,
    ...fields,
  };
  return decideStep(task as Task, now).kind;
}

test.for<[string, Case, string]>([
  ["a new task is handed over", { phase: "ready" }, "submit"],
  [
    "one that was being handed over when its worker died is recovered, never simply sent again",
    { phase: "submitting" },
    "recover",
  ],
  ["one of which nobody knows whether it arrived is looked for", { phase: "unknown" }, "recover"],
  ["one that an upstream has is asked about", { phase: "running" }, "poll"],
  ["a new one that is not wanted ends at once", { phase: "ready", cancelRequestedAt: now }, "cancel"],
  ["one of which nobody knows, and which is not wanted, ends", { phase: "unknown", cancelRequestedAt: now }, "cancel"],
  [
    "one that an upstream has, and which is not wanted, is stopped there",
    { phase: "running", cancelRequestedAt: now },
    "stop",
  ],
  ["an upstream is asked to stop once", { phase: "running", cancelRequestedAt: now, cancelAskedAt: now }, "poll"],
  ["one whose time is over expires", { phase: "running", deadlineAt: now }, "expire"],
  ["one whose time is over expires even where nobody knows about it", { phase: "unknown", deadlineAt: now }, "expire"],
  ["one that is made of others is directed", { phase: "ready", request: { type: "drama" } }, "direct"],
  ["so it is while they are made", { phase: "running", request: { type: "drama" } }, "direct"],
  ["its time ends too", { phase: "running", request: { type: "drama" }, deadlineAt: now }, "expire"],
  ["one that is over stays as it is", { phase: "ended", deadlineAt: now }, "nothing"],
])("%s", ([, fields, step]) => {
  expect(decide(fields)).toBe(step);
});

test("the longer work takes, the less often it is asked about, within bounds and never quite regularly", () => {
  const ask = (elapsedMs: number, random: number): number =>
    choosePollDelayMs(
      { createdAt: now, submittedAt: now },
      { now: new Date(now.getTime() + elapsedMs), random: () => random, pollMsMin: 1_000, pollMsMax: 30_000 },
    );
  expect(ask(0, 0.5)).toBe(1_000);
  expect(ask(100_000, 0.5)).toBe(10_000);
  expect(ask(10_000_000, 0.5)).toBe(30_000);
  expect(ask(100_000, 0)).toBe(8_000);
  expect(ask(100_000, 0.999_999)).toBe(12_000);
});
