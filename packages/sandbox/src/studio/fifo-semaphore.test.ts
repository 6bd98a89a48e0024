import { expect, test } from "vitest";
import { createFifoSemaphore } from "./fifo-semaphore.ts";

const signal = new AbortController().signal;

async function letOthersRun(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((next) => setImmediate(next));
}

test("lets in the maximum number, and the others in order", async () => {
  const semaphore = createFifoSemaphore(2);
  const seen: number[] = [];
  const leaves: (() => void)[] = [];
  for (const index of [0, 1, 2, 3]) {
    void semaphore.acquire(signal).then((leave) => {
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

test("an aborted waiter takes no slot", async () => {
  const semaphore = createFifoSemaphore(1);
  const leave = await semaphore.acquire(signal);
  const controller = new AbortController();
  const waiting = semaphore.acquire(controller.signal);
  const next = semaphore.acquire(signal);
  controller.abort(new Error("given up"));
  await expect(waiting).rejects.toThrow("given up");
  leave();
  (await next)();
  await semaphore.acquire(signal);
  await expect(semaphore.acquire(controller.signal)).rejects.toThrow("given up");
});
