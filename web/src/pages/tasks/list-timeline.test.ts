import { expect, test } from "vitest";
import { listTimeline } from "./list-timeline.ts";

const created = Date.parse("2026-11-15T12:00:00Z") / 1000;
const at = (second: string): string => `2026-11-15T12:00:${second}Z`;
const nowMs = Date.parse(at("30"));

test("a queued task shows how long it has waited", () => {
  expect(listTimeline({ status: "queued", created }, nowMs)).toEqual([
    { name: "Created", at: at("00.000"), detail: "waiting for 30 s" },
  ]);
});

test("a running task shows how long it has run", () => {
  const moments = listTimeline({ status: "processing", created, started_at: at("05.000") }, nowMs);
  expect(moments.map(({ name, detail }) => [name, detail])).toEqual([
    ["Created", ""],
    ["Started", "running for 25 s"],
  ]);
});

test("a finished task shows how long it waited and took, and its outcome", () => {
  const task = { created, started_at: at("05.000"), finished_at: at("07.500") };
  expect(listTimeline({ ...task, status: "succeeded" }, nowMs).map(({ name, detail }) => [name, detail])).toEqual([
    ["Created", ""],
    ["Started", "after 5 s"],
    ["Succeeded", "took 2.5 s"],
  ]);
});

test("a task that never started has no start", () => {
  const moments = listTimeline({ status: "canceled", created, finished_at: at("00.700") }, nowMs);
  expect(moments.map(({ name, detail }) => [name, detail])).toEqual([
    ["Created", ""],
    ["Canceled", "immediately"],
  ]);
});
