import { expect, test } from "vitest";
import { type Batcher, createBatcher } from "./batcher.ts";

type Options = { isCommonFailure?: (error: unknown) => boolean; batchMax?: number; waitingMax?: number };

function createCounting(run: (batch: readonly number[]) => Promise<readonly string[]>, options: Options = {}) {
  const batches: number[][] = [];
  const batcher: Batcher<number, string> = createBatcher({
    batchMax: 3,
    waitingMax: 100,
    createFullError: () => new Error("full"),
    isCommonFailure: () => false,
    ...options,
    run(batch) {
      batches.push([...batch]);
      return run(batch);
    },
  });
  return { batcher, batches };
}

test("what comes at the same time is done together, and what comes meanwhile is the next batch", async () => {
  const gate = Promise.withResolvers<void>();
  const { batcher, batches } = createCounting(async (batch) => {
    if (batch[0] === 1) await gate.promise;
    return batch.map((item) => `done ${item}`);
  });
  const first = [1, 2].map((item) => batcher.submit(item));
  await Promise.resolve();
  const next = [3, 4, 5, 6].map((item) => batcher.submit(item));
  gate.resolve();
  expect(await Promise.all([...first, ...next])).toEqual([1, 2, 3, 4, 5, 6].map((item) => `done ${item}`));
  expect(batches[0]).toEqual([1, 2]);
  expect(batches.slice(1).flat()).toEqual([3, 4, 5, 6]);
  expect(Math.max(...batches.map(({ length }) => length))).toBe(3);
});

test("one that fails does not fail its neighbours", async () => {
  const { batcher } = createCounting(async (batch) => {
    if (batch.includes(2)) throw new Error("two is bad");
    return batch.map(String);
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
  expect(results.map((result) => (result.status === "fulfilled" ? result.value : String(result.reason)))).toEqual([
    "1",
    "Error: two is bad",
    "3",
  ]);
});

test("a failure that all share is not repeated for each", async () => {
  const { batcher, batches } = createCounting(
    async () => {
      throw new Error("gone");
    },
    { isCommonFailure: () => true },
  );
  const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(batches).toHaveLength(1);
});

test("when too many wait, the next is told, and those who wait are not", async () => {
  const gate = Promise.withResolvers<void>();
  const { batcher } = createCounting(
    async (batch) => {
      await gate.promise;
      return batch.map(String);
    },
    { waitingMax: 2 },
  );
  const waiting = [1, 2].map((item) => batcher.submit(item));
  await expect(batcher.submit(3)).rejects.toThrow("full");
  gate.resolve();
  expect(await Promise.all(waiting)).toEqual(["1", "2"]);
});

test("draining waits for everything that was submitted", async () => {
  const done: number[] = [];
  const { batcher } = createCounting(
    async (batch) => {
      await Promise.resolve();
      done.push(...batch);
      return batch.map(String);
    },
    { batchMax: 1 },
  );
  for (const item of [1, 2, 3]) void batcher.submit(item);
  await batcher.drain();
  expect(done).toEqual([1, 2, 3]);
});
