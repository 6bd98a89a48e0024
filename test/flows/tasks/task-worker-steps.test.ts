import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkAccounts, openHolds } from "../../../src/features/ledger/index.ts";
import { claimDueTasks, releaseLeases, renewLeases } from "../../../src/features/tasks/lease-store.ts";
import { leaseMs, renewEveryMs } from "../../../src/features/tasks/work/hold-leases.ts";
import { reconcileTasks } from "../../../src/features/tasks/work/reconcile-tasks.ts";
import { nano } from "../../../src/lib/money.ts";
import { createUnavailableError } from "../../../src/platform/database/unavailable.ts";
import { ProviderError } from "../../../src/providers/contract.ts";
import { makeOutputs, openScriptedTasks, type ScriptedTasks } from "../../harness/tasks/scripted-tasks.ts";
import { createGate } from "../../harness/upstreams/gate.ts";

let world: ScriptedTasks;
beforeEach(async () => {
  world = await openScriptedTasks();
});
afterEach(async () => {
  const wrongs = await world.findWrongs();
  await world[Symbol.asyncDispose]();
  expect(wrongs).toEqual([]);
});

const unreachable = new ProviderError("unreachable", "Nobody is there.");
const never = new AbortController().signal;
/** How many steps a worker takes at a time here: one per connection. */
const stepsMax = 8;

async function claimOne(id: `task_${string}`) {
  const task = await world.claim(id);
  if (task === null) throw new Error(`${id} is taken.`);
  return task;
}

/** The database fails this many times from now on, as if no connection were free. */
function failDatabase(count: number): void {
  const { database } = world.parts;
  let left = count;
  world.parts.database = new Proxy(database, {
    get(target, name) {
      if (left > 0) {
        left -= 1;
        throw createUnavailableError("timeout exceeded when trying to connect");
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("an outage of the database right after the upstream's answer", () => {
  test("does not lose the job that it has accepted", async () => {
    const id = await world.submit();
    world.upstream.submit = async ({ taskId }) => {
      failDatabase(2);
      return { kind: "accepted", handle: { id: taskId } };
    };
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ phase: "running", handle: { id } });
  });

  test("does not lose outputs that came with the answer of an upstream without jobs", async () => {
    const id = await world.submit();
    const outputs = await makeOutputs(2);
    world.upstream.traits = { ...world.upstream.traits, keepsWork: false };
    world.upstream.submit = async () => {
      failDatabase(2);
      return { kind: "done", outputs };
    };
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ state: "succeeded", units: 2n });
    expect(world.upstream.submitted).toEqual([id]);
  });

  test("does not lose that it certainly has no job", async () => {
    const id = await world.submit();
    world.upstream.submit = async () => {
      failDatabase(2);
      throw new ProviderError("rate-limited", "Slow down.", { retryAfterMs: 1_000 });
    };
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ phase: "ready" });
  });
});

describe("a worker that was presumed dead", () => {
  /** Claims a task, lets the lease expire, and lets another worker claim it. */
  async function loseTask(id: `task_${string}`) {
    const late = await claimOne(id);
    world.clock.advance(leaseMs);
    const taken = await claimOne(id);
    expect(taken.fencingToken).toBe(late.fencingToken + 1);
    return { late, taken };
  }

  test("submits nothing", async () => {
    const id = await world.submit();
    const { late } = await loseTask(id);
    expect(await world.advance(late)).toBeNull();
    expect(world.upstream.submitted).toEqual([]);
    expect(await world.read(id)).toMatchObject({ phase: "ready", target: null });
  });

  test("does not write the upstream's job id", async () => {
    const id = await world.submit();
    const gate = createGate();
    world.upstream.submit = async () => {
      await gate.pass(never);
      return { kind: "accepted", handle: { id: "late" } };
    };
    const late = await claimOne(id);
    const step = world.advance(late);
    await gate.reached();
    world.clock.advance(leaseMs);
    const taken = await claimOne(id);
    gate.open();
    await step;
    expect(await world.read(id)).toMatchObject({ phase: "submitting", handle: null });
    // The outcome of the submission is unknown, so the other worker does not send it again.
    await world.advance(taken);
    expect(await world.read(id)).toMatchObject({ phase: "unknown", state: "queued" });
    expect(world.upstream.submitted).toEqual([id]);
  });

  test.for([
    ["progress", { kind: "running", isStarted: true, progress: 50 }],
    ["that it does not know the task", { kind: "lost" }],
    ["a failure", { kind: "failed", error: new ProviderError("rejected", "No.") }],
    ["a failure that another target may not have", { kind: "failed", error: unreachable }],
    ["an end without a cancel", { kind: "canceled", outputs: [] }],
  ] as const)("does not write %s", async ([, outcome]) => {
    const id = await world.submit();
    await world.step(id);
    const before = await world.read(id);
    world.clock.advance(10_000);
    const { late } = await loseTask(id);
    world.upstream.poll = async () => outcome;
    await world.advance(late);
    expect(await world.read(id)).toEqual(before);
  });

  test("ends nothing, and the other worker finds the output that it stored", async () => {
    const id = await world.submit();
    await world.step(id);
    world.clock.advance(10_000);
    const { late, taken } = await loseTask(id);
    const outputs = await makeOutputs(2);
    world.upstream.poll = async () => ({ kind: "done", outputs });
    await world.advance(late);
    expect(await world.read(id)).toMatchObject({ phase: "running", state: "queued" });
    // A late result is not logged.
    expect(world.logs).toEqual([]);
    await world.advance(taken);
    expect(await world.read(id)).toMatchObject({ state: "succeeded", progress: 100, units: 2n });
    const { rows } = await sql`select id from files`.execute(world.parts.database);
    expect(rows).toHaveLength(2);
  });

  test("neither extends nor returns the lease of another", async () => {
    const id = await world.submit();
    const { late, taken } = await loseTask(id);
    const { database, clock } = world.parts;
    const later = new Date(clock.now().getTime() + 1_000_000);
    const readDue = async (): Promise<Date> =>
      (await database.selectFrom("task_leases").select("next_poll_at").executeTakeFirstOrThrow()).next_poll_at;
    const due = await readDue();
    expect(await renewLeases(database, [{ ...late, until: due }], later)).toEqual(new Set());
    expect(await readDue()).toEqual(due);
    await releaseLeases(database, [{ ...late, dueAt: clock.now() }], clock.now());
    expect(await world.claim(id)).toBeNull();
    expect(await renewLeases(database, [{ ...taken, until: due }], later)).toEqual(new Set([id]));
    world.clock.advance(leaseMs);
    expect(await world.claim(id)).toBeNull();
    await releaseLeases(database, [{ ...taken, dueAt: clock.now() }], clock.now());
    expect(await world.claim(id)).not.toBeNull();
  });
});

describe("a worker that dies during a poll", () => {
  test.for([1_000, 6_000, 10_000])(
    "leaves a task that its upstream is asked about %d ms later at the soonest",
    async (pollMsMin) => {
      const { database, clock } = world.parts;
      world.upstream.traits = { ...world.upstream.traits, pollMsMin, pollMsMax: pollMsMin };
      const polledMs: number[] = [];
      world.upstream.poll = async () => {
        polledMs.push(clock.now().getTime());
        return { kind: "running", isStarted: false, progress: null };
      };
      const id = await world.submit();
      await world.step(id);
      world.clock.advance(pollMsMin);
      const dead = await claimOne(id);
      // Just before it would have renewed its lease.
      world.clock.advance(renewEveryMs - 1);
      await world.advance(dead);
      for (let looks = 0; polledMs.length < 2; looks += 1) {
        expect(looks).toBeLessThan(120);
        world.clock.advance(250);
        const task = await world.claim(id);
        const dueAt = task === null ? null : await world.advance(task);
        if (task !== null && dueAt !== null) await releaseLeases(database, [{ ...task, dueAt }], clock.now());
      }
      const [first = 0, second = 0] = polledMs;
      expect(second - first).toBeGreaterThanOrEqual(pollMsMin);
      expect(second - first).toBeLessThanOrEqual(pollMsMin + leaseMs);
    },
  );
});

test("a due task is claimed by one of any number of workers, the longest due first", async () => {
  const ids: string[] = [];
  for (let index = 0; index < 20; index += 1) ids.push(await world.submit());
  const { database, clock } = world.parts;
  const lease = { now: clock.now(), until: new Date(clock.now().getTime() + leaseMs), limit: 5 };
  const claims = await Promise.all(Array.from({ length: 6 }, () => claimDueTasks(database, lease)));
  const taken = claims.map(({ tasks }) => tasks);
  expect(
    taken
      .flat()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(ids);
  expect(taken.flat().every(({ fencingToken }) => fencingToken === 1)).toBe(true);
});

describe("a worker that dies during a submission", () => {
  /** The target is written and the upstream has the job, but its answer was lost. */
  async function dieHandingOver(id: `task_${string}`): Promise<void> {
    const hears = world.upstream.submit;
    world.upstream.submit = async () => {
      throw new Error("The process died.");
    };
    await expect(world.step(id)).rejects.toThrow("died");
    world.upstream.submit = hears;
  }

  test("leaves a task that is never sent again, and that expires at no charge", async () => {
    const id = await world.submit();
    await dieHandingOver(id);
    for (let looks = 0; looks < 3; looks += 1) await world.step(id);
    expect(await world.read(id)).toMatchObject({ state: "queued", phase: "unknown" });
    expect(world.upstream.submitted).toEqual([id]);
    world.clock.advance(3_600_000);
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ state: "expired", charge: 0n });
  });

  test("leaves a task that has failed if the upstream is synchronous", async () => {
    const id = await world.submit();
    world.upstream.traits = { ...world.upstream.traits, keepsWork: false };
    await dieHandingOver(id);
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ state: "failed", error: { code: "upstream_timeout" }, charge: 0n });
    expect(world.upstream.submitted).toEqual([id]);
  });

  test("leaves a task that is found if the upstream can look it up", async () => {
    const id = await world.submit();
    await dieHandingOver(id);
    world.upstream.find = async () => null;
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ phase: "unknown" });
    world.upstream.find = async ({ taskId }) => ({ found: taskId });
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ phase: "running", handle: { found: id } });
    expect(world.upstream.submitted).toEqual([id]);
  });

  test("leaves a task that is submitted again if the upstream is idempotent", async () => {
    const id = await world.submit();
    world.upstream.traits = { ...world.upstream.traits, isRepeatable: true };
    await dieHandingOver(id);
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ phase: "running", handle: { id } });
    expect(world.upstream.submitted).toEqual([id, id]);
  });

  test("leaves a task that a cancel ends, although its outcome is unknown", async () => {
    const id = await world.submit();
    await dieHandingOver(id);
    expect(await world.cancel(id)).toMatchObject({ state: "queued" });
    await world.step(id);
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ state: "canceled", charge: 0n });
  });

  test("leaves a task that a cancel ends as soon as its outcome is marked unknown", async () => {
    const id = await world.submit();
    await dieHandingOver(id);
    await world.step(id);
    expect(await world.cancel(id)).toMatchObject({ state: "canceled", charge: 0n });
  });
});

describe("an upstream that cannot be polled", () => {
  test("is polled again, and the task continues when it answers", async () => {
    const id = await world.submit();
    await world.step(id);
    const outputs = await makeOutputs(2);
    world.upstream.poll = async () => {
      throw unreachable;
    };
    await world.step(id);
    world.clock.advance(119_000);
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ state: "queued", phase: "running" });
    world.upstream.poll = async () => ({ kind: "running", isStarted: true, progress: 10 });
    await world.step(id);
    world.clock.advance(119_000);
    world.upstream.poll = async () => ({ kind: "lost" });
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ state: "processing", progress: 10 });
    world.upstream.poll = async () => ({ kind: "running", isStarted: true, progress: 5 });
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ progress: 10, lostAt: null });
    world.upstream.poll = async () => ({ kind: "done", outputs });
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ state: "succeeded" });
  });

  test("has lost the task if that lasts for two minutes", async () => {
    const id = await world.submit();
    await world.step(id);
    world.upstream.poll = async () => ({ kind: "lost" });
    await world.step(id);
    world.clock.advance(120_000);
    await world.step(id);
    expect(await world.read(id)).toMatchObject({
      state: "failed",
      error: { code: "upstream_unavailable" },
      charge: 0n,
    });
  });
});

test("an upstream's progress is clamped to a plausible range, and only success is 100", async () => {
  const id = await world.submit();
  await world.step(id);
  const told: number[] = [];
  for (const progress of [12.9, -3, 7, 55, Number.NaN, 250]) {
    world.upstream.poll = async () => ({ kind: "running", isStarted: true, progress });
    await world.step(id);
    const task = await world.read(id);
    expect(task).toMatchObject({ state: "processing", lostAt: null });
    told.push(task.progress);
  }
  expect(told).toEqual([12, 12, 12, 55, 55, 99]);
});

describe("targets", () => {
  test("are tried one after another, never the same twice, and then the task fails", async () => {
    const id = await world.submit();
    world.upstream.submit = async () => {
      throw unreachable;
    };
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ phase: "ready", tried: [{ providerId: "fal" }] });
    await world.step(id);
    await world.step(id);
    const task = await world.read(id);
    expect(task).toMatchObject({ state: "failed", error: { code: "upstream_unavailable" } });
    expect(new Set(task.tried.map(({ upstreamModel }) => upstreamModel))).toEqual(new Set(["one/model", "two/model"]));
    expect(world.upstream.submitted).toHaveLength(2);
  });

  test("that may have received the task are the last", async () => {
    const id = await world.submit();
    world.upstream.submit = async () => ({ kind: "ambiguous", error: unreachable });
    await world.step(id);
    await world.step(id);
    expect(await world.read(id)).toMatchObject({ phase: "unknown", state: "queued" });
    expect(world.upstream.submitted).toHaveLength(1);
  });
});

describe("orphaned holds", () => {
  test("of no task, or of a finished one, are released and logged; those of open tasks stay", async () => {
    const { database, clock, ids } = world.parts;
    const open = await world.submit();
    const stray = {
      id: ids.next("hold"),
      accountId: world.accountId,
      amount: nano(5n),
      quota: null,
      budget: null,
      cause: { kind: "task", id: ids.next("task") } as const,
      expiresAt: new Date(clock.now().getTime() + 86_400_000),
    };
    await database.transaction().execute((tx) => openHolds(tx, [stray], clock.now()));
    world.clock.advance(9 * 60_000);
    expect(await reconcileTasks(world.parts)).toEqual({ released: 0 });
    world.clock.advance(2 * 60_000);
    expect(await reconcileTasks(world.parts)).toEqual({ released: 1 });
    expect(world.logs.filter(({ msg }) => msg === "stray hold released")).toMatchObject([
      { hold_id: stray.id, account_id: world.accountId },
    ]);
    expect(await reconcileTasks(world.parts)).toEqual({ released: 0 });
    expect(await world.read(open)).toMatchObject({ state: "queued" });
    const check = { kind: "whole", accountIds: "all", now: clock.now() } as const;
    expect(await checkAccounts(database, check)).toEqual({ violations: [], frozen: [] });
  });
});

test("the deadlines of a thousand tasks at once are all met", { tags: "extended" }, async () => {
  const submitted = await Promise.all(
    Array.from({ length: 1000 }, () => world.trySubmit({ count: 1, tasksInFlight: 1000, lifeMs: 60_000 })),
  );
  expect(submitted.every(({ outcome }) => outcome.kind === "created")).toBe(true);
  world.clock.advance(60_000 + 2_000);
  const { database, clock } = world.parts;
  const startedAt = performance.now();
  const claimSome = async () => {
    const now = clock.now();
    const time = { now, until: new Date(now.getTime() + leaseMs) };
    return (await claimDueTasks(database, { ...time, limit: stepsMax })).tasks;
  };
  for (let due = await claimSome(); due.length > 0; due = await claimSome()) await Promise.all(due.map(world.advance));
  console.log(`deadlines: 1000 tasks expired in ${Math.round(performance.now() - startedAt)} ms`);
  const { rows } = await sql`select state, count(*)::int as count from tasks group by state`.execute(database);
  expect(rows).toEqual([{ state: "expired", count: 1000 }]);
  expect(world.upstream.submitted).toEqual([]);
});

describe("concurrent submissions", () => {
  test("are admitted up to the limit, and those beyond it leave nothing behind", async () => {
    const asked = Array.from({ length: 30 }, (_, index) => ({ key: `key-${index}`, tasksInFlight: 10 }));
    const results = await Promise.all(asked.map((options) => world.trySubmit(options)));
    const created = results.filter(({ outcome }) => outcome.kind === "created");
    expect(created).toHaveLength(10);
    expect(results.filter(({ outcome }) => outcome.kind === "full")).toHaveLength(20);
    const { database } = world.parts;
    const keys = await sql`select key from idempotency_keys`.execute(database);
    expect(keys.rows).toHaveLength(10);
    const holds = await sql`select id from holds`.execute(database);
    expect(holds.rows).toHaveLength(10);
    // When one ends, there is room for one.
    await world.cancel(created[0]?.id ?? "task_none");
    const again = await Promise.all([world.trySubmit({ tasksInFlight: 10 }), world.trySubmit({ tasksInFlight: 10 })]);
    expect(again.map(({ outcome }) => outcome.kind).toSorted()).toEqual(["created", "full"]);
  });

  test("with one key create one task", async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => world.trySubmit({ key: "same" })));
    expect(results.map(({ outcome }) => outcome.kind).toSorted()).toEqual([
      "created",
      ...Array.from({ length: 19 }, () => "key-taken"),
    ]);
    const { rows } = await sql`select id from tasks`.execute(world.parts.database);
    expect(rows).toHaveLength(1);
  });

  test("are paid as far as the money goes, one by one", async () => {
    const { database } = world.parts;
    const many = await Promise.all(
      // Half of the bucket each: two fit, and no third.
      Array.from({ length: 5 }, () => world.trySubmit({ count: 12_500, tasksInFlight: 100 })),
    );
    expect(many.filter(({ outcome }) => outcome.kind === "created")).toHaveLength(2);
    const { rows } = await sql`select id from tasks`.execute(database);
    expect(rows).toHaveLength(2);
  });
});

test("a cancellation takes the lease from the polling worker, so no two changes have one version", async () => {
  const id = await world.submit();
  await world.step(id);
  world.clock.advance(2_000);
  const task = await claimOne(id);
  const canceled = await world.cancel(id);
  world.upstream.poll = async () => ({ kind: "running", isStarted: true, progress: 40 });
  await world.advance(task);
  expect(await world.read(id)).toEqual(canceled);
  expect(canceled.version).toBeGreaterThan(task.version);
  await world.step(id);
  const ended = await world.read(id);
  expect(ended).toMatchObject({ state: "canceled", charge: 0n });
  expect(ended.version).toBeGreaterThan(canceled.version);
});

test("a canceled task that the upstream no longer knows is canceled, not failed", async () => {
  const id = await world.submit();
  await world.step(id);
  await world.cancel(id);
  world.upstream.cancel = async () => "requested";
  world.upstream.poll = async () => ({ kind: "lost" });
  await world.step(id);
  expect(await world.read(id)).toMatchObject({ state: "queued", cancelAskedAt: expect.any(Date) });
  await world.step(id);
  expect(await world.read(id)).toMatchObject({ state: "canceled", charge: 0n });
});
