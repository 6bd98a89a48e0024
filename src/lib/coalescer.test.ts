import { setImmediate as turnLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCoalescer } from "./coalescer.ts";

type Options = Parameters<typeof createCoalescer<number, string>>[0];

function createCounting(run: Options["run"], options: Partial<Options> = {}) {
  const batches: number[][] = [];
  const coalescer = createCoalescer<number, string>({
    batchMax: 3,
    waitingMax: 100,
    createFullError: () => new Error("full"),
    ...options,
    run(batch) {
      batches.push([...batch]);
      return run(batch);
    },
  });
  return { coalescer, batches };
}

test("concurrent items share a batch, and items that arrive while it runs form the next", async () => {
  const gate = Promise.withResolvers<void>();
  const { coalescer, batches } = createCounting(async (batch) => {
    if (batch[0] === 1) await gate.promise;
    return batch.map((item) => `done ${item}`);
  });
  const first = [1, 2].map((item) => coalescer.submit(item));
  await Promise.resolve();
  const next = [3, 4, 5, 6].map((item) => coalescer.submit(item));
  gate.resolve();
  expect(await Promise.all([...first, ...next])).toEqual([1, 2, 3, 4, 5, 6].map((item) => `done ${item}`));
  expect(batches[0]).toEqual([1, 2]);
  expect(batches.slice(1).flat()).toEqual([3, 4, 5, 6]);
  expect(Math.max(...batches.map(({ length }) => length))).toBe(3);
});

test("a batch stays within the maximum weight, except for a single heavier item", async () => {
  const weight = { of: (item: number) => item, max: 5 };
  const { coalescer, batches } = createCounting(async (batch) => batch.map(String), { weight });
  await Promise.all([1, 2, 3, 9, 4, 1, 1, 0, 0, 0].map((item) => coalescer.submit(item)));
  expect(batches).toEqual([[1, 2], [3], [9], [4, 1], [1, 0, 0], [0]]);
});

test("a failing item does not fail the others in its batch", async () => {
  const { coalescer } = createCounting(
    async (batch) => {
      if (batch.includes(2)) throw new Error("two is bad");
      return batch.map(String);
    },
    { judge: () => "alone" },
  );
  const results = await Promise.allSettled([1, 2, 3].map((item) => coalescer.submit(item)));
  expect(results.map((result) => (result.status === "fulfilled" ? result.value : String(result.reason)))).toEqual([
    "1",
    "Error: two is bad",
    "3",
  ]);
});

test("a failure of the whole batch is not retried item by item", async () => {
  const failure = new Error("gone");
  const { coalescer, batches } = createCounting(() => Promise.reject(failure));
  const results = await Promise.allSettled([1, 2, 3].map((item) => coalescer.submit(item)));
  expect(results).toEqual([1, 2, 3].map(() => ({ status: "rejected", reason: failure })));
  expect(batches).toHaveLength(1);
});

test("a full queue rejects the next item and keeps those waiting", async () => {
  const gate = Promise.withResolvers<void>();
  const { coalescer } = createCounting(
    async (batch) => {
      await gate.promise;
      return batch.map(String);
    },
    { waitingMax: 2 },
  );
  const waiting = [1, 2].map((item) => coalescer.submit(item));
  await expect(coalescer.submit(3)).rejects.toThrow("full");
  gate.resolve();
  expect(await Promise.all(waiting)).toEqual(["1", "2"]);
});

test("drain waits for all submitted items", async () => {
  const done: number[] = [];
  const { coalescer } = createCounting(
    async (batch) => {
      await Promise.resolve();
      done.push(...batch);
      return batch.map(String);
    },
    { batchMax: 1 },
  );
  for (const item of [1, 2, 3]) void coalescer.submit(item);
  await coalescer.drain();
  expect(done).toEqual([1, 2, 3]);
});

test("items to retry go first in the next batch until they are rejected", async () => {
  let failures = 0;
  const { coalescer, batches } = createCounting(
    async (batch) => {
      if (failures < 2) throw new Error("away");
      return batch.map(String);
    },
    {
      judge(_, item) {
        failures += 1;
        return item === 2 ? new Error("too long") : "again";
      },
    },
  );
  const results = Promise.allSettled([1, 2].map((item) => coalescer.submit(item)));
  const later = coalescer.submit(3);
  expect(await results).toMatchObject([{ value: "1" }, { reason: { message: "too long" } }]);
  expect(await later).toBe("3");
  expect(batches).toEqual([
    [1, 2, 3],
    [1, 3],
  ]);
});

test("a failed batch expires waiting items, and oldest() returns the oldest item", async () => {
  const gate = Promise.withResolvers<void>();
  const { coalescer } = createCounting(
    async (batch) => {
      await gate.promise;
      if (batch.includes(1)) throw new Error("away");
      return batch.map(String);
    },
    { batchMax: 1, expire: (_, item) => (item === 2 ? new Error("too long") : null) },
  );
  expect(coalescer.oldest()).toBeNull();
  const results = Promise.allSettled([1, 2, 3].map((item) => coalescer.submit(item)));
  expect(coalescer.oldest()).toBe(1);
  gate.resolve();
  expect(await results).toMatchObject([
    { reason: { message: "away" } },
    { reason: { message: "too long" } },
    { value: "3" },
  ]);
  await coalescer.drain();
  expect(coalescer.oldest()).toBeNull();
});

test("a batch starts after gather() and includes items submitted meanwhile", async () => {
  const { coalescer, batches } = createCounting(async (batch) => batch.map(String), { gather: () => turnLoop() });
  const first = coalescer.submit(1);
  await Promise.resolve();
  expect(batches).toEqual([]);
  await Promise.all([first, coalescer.submit(2)]);
  expect(batches).toEqual([[1, 2]]);
});

test("several requests during a run are merged into one further run", async () => {
  const gate = Promise.withResolvers<void>();
  const { coalescer, batches } = createCounting(
    async () => {
      await gate.promise;
      return [];
    },
    { batchMax: 1, waitingMax: 1 },
  );
  coalescer.tell(1);
  await Promise.resolve();
  for (const item of [2, 3, 4]) coalescer.tell(item);
  gate.resolve();
  await coalescer.drain();
  expect(batches).toEqual([[1], [2]]);
});

test("a failure without a waiter is reported once, and later items still run", async () => {
  const troubles: unknown[] = [];
  const { coalescer, batches } = createCounting(() => Promise.reject(new Error("gone")), {
    onTrouble: (error) => troubles.push(error),
  });
  for (const item of [1, 2]) coalescer.tell(item);
  await coalescer.drain();
  coalescer.tell(3);
  await coalescer.drain();
  expect(batches).toEqual([[1, 2], [3]]);
  expect(troubles).toMatchObject([{ message: "gone" }, { message: "gone" }]);
});

test("items without a waiter are reported as lost: dropped, rejected, expired or after the end", async () => {
  const lost: number[] = [];
  const gate = Promise.withResolvers<void>();
  const { coalescer } = createCounting(
    async ([first]) => {
      await gate.promise;
      if (first === 1) throw new Error("gone");
      return [];
    },
    {
      ...{ batchMax: 1, waitingMax: 2, onLost: (item: number) => lost.push(item) },
      expire: (_, item) => (item === 2 ? new Error("too late") : null),
    },
  );
  coalescer.tell(1);
  await turnLoop();
  for (const item of [2, 3, 4]) coalescer.tell(item);
  expect(lost).toEqual([4]);
  const waited = coalescer.submit(5).catch(() => "rejected");
  gate.resolve();
  await coalescer.close();
  coalescer.tell(6);
  expect(lost).toEqual([4, 1, 2, 6]);
  expect(await waited).toBe("rejected");
});

test("close rejects new items and finishes accepted ones", async () => {
  const { coalescer, batches } = createCounting(async (batch) => batch.map(String));
  const taken = coalescer.submit(1);
  const closing = coalescer.close();
  coalescer.tell(2);
  await expect(coalescer.submit(3)).rejects.toThrow("full");
  await closing;
  expect([await taken, batches]).toEqual(["1", [[1]]]);
});

test("drain aborts the gathering of further items", async () => {
  const { coalescer, batches } = createCounting(async (batch) => batch.map(String), {
    gather: (hurry) => new Promise((resolve) => hurry.addEventListener("abort", resolve)),
  });
  for (const item of [1, 2]) coalescer.tell(item);
  await turnLoop();
  expect(batches).toEqual([]);
  await coalescer.drain();
  expect(batches).toEqual([[1, 2]]);
});
