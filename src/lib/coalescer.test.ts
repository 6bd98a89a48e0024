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

test("what comes at the same time is done together, and what comes meanwhile is the next batch", async () => {
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

test("a batch is as large as it may weigh, and one item alone may weigh more", async () => {
  const weight = { of: (item: number) => item, max: 5 };
  const { coalescer, batches } = createCounting(async (batch) => batch.map(String), { weight });
  await Promise.all([1, 2, 3, 9, 4, 1, 1, 0, 0, 0].map((item) => coalescer.submit(item)));
  expect(batches).toEqual([[1, 2], [3], [9], [4, 1], [1, 0, 0], [0]]);
});

test("one that fails does not fail its neighbours", async () => {
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

test("a failure that all share is not repeated for each", async () => {
  const failure = new Error("gone");
  const { coalescer, batches } = createCounting(() => Promise.reject(failure));
  const results = await Promise.allSettled([1, 2, 3].map((item) => coalescer.submit(item)));
  expect(results).toEqual([1, 2, 3].map(() => ({ status: "rejected", reason: failure })));
  expect(batches).toHaveLength(1);
});

test("when too many wait, the next is told, and those who wait are not", async () => {
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

test("draining waits for everything that was submitted", async () => {
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

test("what is judged to be done again goes first into the next batch, until its caller is told an error", async () => {
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

test("those who wait while a batch fails are told when they can wait no longer, and the oldest is known", async () => {
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

test("a batch begins when it was gathered: what the same turn of the loop brings is part of it", async () => {
  const { coalescer, batches } = createCounting(async (batch) => batch.map(String), { gather: () => turnLoop() });
  const first = coalescer.submit(1);
  await Promise.resolve();
  expect(batches).toEqual([]);
  await Promise.all([first, coalescer.submit(2)]);
  expect(batches).toEqual([[1, 2]]);
});

test("work that is told to be done is done once more after what is being done, however often it is told", async () => {
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

test("a failure of what nobody waits for is told once, and what comes later is done all the same", async () => {
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

test("after its close nothing is taken, and what was taken is done", async () => {
  const { coalescer, batches } = createCounting(async (batch) => batch.map(String));
  const taken = coalescer.submit(1);
  const closing = coalescer.close();
  coalescer.tell(2);
  await expect(coalescer.submit(3)).rejects.toThrow("full");
  await closing;
  expect([await taken, batches]).toEqual(["1", [[1]]]);
});

test("nobody who waits for the end waits for more to come together", async () => {
  const { coalescer, batches } = createCounting(async (batch) => batch.map(String), {
    gather: (hurry) => new Promise((resolve) => hurry.addEventListener("abort", resolve)),
  });
  for (const item of [1, 2]) coalescer.tell(item);
  await turnLoop();
  expect(batches).toEqual([]);
  await coalescer.drain();
  expect(batches).toEqual([[1, 2]]);
});
