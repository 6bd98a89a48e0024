import { expect, test } from "vitest";
import { createWaitingLine } from "./waiting-line.ts";

const signal = new AbortController().signal;

async function letOthersRun(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((next) => setImmediate(next));
}

test("so many are let in, the others in the order in which they came", async () => {
  const line = createWaitingLine(2);
  const seen: number[] = [];
  const leaves: (() => void)[] = [];
  for (const index of [0, 1, 2, 3]) {
    void line.enter(signal).then((leave) => {
      seen.push(index);
      leaves.push(leave);
    });
  }
  await letOthersRun();
  expect(seen).toEqual([0, 1]);
  leaves[1]?.();
  leaves[1]?.();
  await letOthersRun();
  expect(seen).toEqual([0, 1, 2]);
  leaves[0]?.();
  await letOthersRun();
  expect(seen).toEqual([0, 1, 2, 3]);
});

test("who gives up takes no place", async () => {
  const line = createWaitingLine(1);
  const leave = await line.enter(signal);
  const controller = new AbortController();
  const waiting = line.enter(controller.signal);
  const next = line.enter(signal);
  controller.abort(new Error("given up"));
  await expect(waiting).rejects.toThrow("given up");
  leave();
  (await next)();
  await line.enter(signal);
  await expect(line.enter(controller.signal)).rejects.toThrow("given up");
});
