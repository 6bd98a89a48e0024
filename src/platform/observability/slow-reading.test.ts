import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { createSlowReading } from "./slow-reading.ts";

function openReading() {
  const clock = createTestClock();
  const asked: PromiseWithResolvers<number>[] = [];
  const reading = createSlowReading({
    ...{ clock, everyMs: 1000 },
    read() {
      const answer = Promise.withResolvers<number>();
      asked.push(answer);
      return answer.promise;
    },
  });
  return { clock, asked, reading };
}

test("is read on demand, once for concurrent callers, and cached for its interval", async () => {
  const { clock, asked, reading } = openReading();
  expect([asked.length, reading.last(), reading.ageMs()]).toEqual([0, null, Number.NaN]);
  const both = Promise.all([reading.refresh(), reading.refresh()]);
  asked[0]?.resolve(7);
  await both;
  expect([asked.length, reading.last(), reading.ageMs()]).toEqual([1, 7, 0]);
  clock.advance(999);
  await reading.refresh();
  expect([asked.length, reading.ageMs()]).toEqual([1, 999]);
  clock.advance(1);
  const next = reading.refresh();
  asked[1]?.resolve(8);
  await next;
  expect([asked.length, reading.last(), reading.ageMs()]).toEqual([2, 8, 0]);
});

test("keeps its last value and age on failure, and never reads twice at once", async () => {
  const { clock, asked, reading } = openReading();
  const first = reading.refresh();
  asked[0]?.resolve(7);
  await first;
  clock.advance(5000);
  const second = reading.refresh();
  clock.advance(5000);
  const third = reading.refresh();
  expect(asked).toHaveLength(2);
  asked[1]?.reject(new Error("away"));
  await Promise.all([second, third]);
  expect([reading.last(), reading.ageMs()]).toEqual([7, 10_000]);
});
