import { expect, test } from "vitest";
import { createSemaphore } from "./semaphore.ts";

test("runs at most n at a time in FIFO order, also after a failure", async () => {
  const semaphore = createSemaphore(2);
  const events: string[] = [];
  const gates = ["a", "b", "c", "d"].map((name) => ({ name, gate: Promise.withResolvers<void>() }));
  const runs = gates.map(({ name, gate }) =>
    semaphore.run(async () => {
      events.push(name);
      await gate.promise;
      return name;
    }),
  );
  const outcomes = Promise.allSettled(runs);
  expect(events).toEqual(["a", "b"]);
  gates[1]?.gate.reject(new Error("failed"));
  await runs[1]?.catch(() => {});
  await Promise.resolve();
  expect(events).toEqual(["a", "b", "c"]);
  for (const { gate } of gates) gate.resolve();
  expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(events).toEqual(["a", "b", "c", "d"]);
  expect(await semaphore.run(async () => "free")).toBe("free");
});

test("a permit is released once, and an aborted waiter takes none", async () => {
  const semaphore = createSemaphore(1);
  const leave = await semaphore.enter();
  const stop = new AbortController();
  const waiting = semaphore.enter(stop.signal);
  const next = semaphore.enter();
  expect(semaphore.isFull()).toBe(true);
  stop.abort("gone");
  await expect(waiting).rejects.toBe("gone");
  await expect(semaphore.enter(stop.signal)).rejects.toBe("gone");
  leave();
  leave();
  (await next)();
  expect(semaphore.isFull()).toBe(false);
});
