// @module-tag extended
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFinal, type Task } from "../../../src/features/tasks/task.ts";
import { type TaskFailpoint, taskFailpoints } from "../../../src/features/tasks/task-failpoints.ts";
import { leaseMs } from "../../../src/features/tasks/work/hold-leases.ts";
import type { TaskId } from "../../../src/lib/ids.ts";
import { ProviderError } from "../../../src/providers/contract.ts";
import type { MadeOutput } from "../../../src/providers/generation.ts";
import { makeOutputs, openScriptedTasks, type ScriptedTasks } from "../../harness/tasks/scripted-tasks.ts";

const tasksCount = 2;
const lifeMs = 600_000;

const submissions = ["accepted", "done", "ambiguous", "refused", "overloaded", "died"] as const;
const polls = ["queued", "running", "done", "one-only", "failed", "rejected", "canceled", "lost", "silent"] as const;
const cancels = ["canceled", "requested", "too-late", "unsupported"] as const;

/** The next event of a story, and its task. */
type Move =
  | { kind: "step"; submit: (typeof submissions)[number]; poll: (typeof polls)[number]; progress: number }
  | { kind: "stalled"; poll: (typeof polls)[number]; progress: number }
  | { kind: "cancel"; answer: (typeof cancels)[number] }
  | { kind: "dies-at"; point: TaskFailpoint; poll: (typeof polls)[number] }
  | { kind: "claimed-by-the-dead" }
  | { kind: "time"; milliseconds: number };

const progress = fc.integer({ min: -5, max: 200 });
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("step" as const),
      submit: fc.oneof({ weight: 5, arbitrary: fc.constant("accepted" as const) }, fc.constantFrom(...submissions)),
      poll: fc.constantFrom(...polls),
      progress,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("stalled" as const), poll: fc.constantFrom(...polls), progress }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), answer: fc.constantFrom(...cancels) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("dies-at" as const),
      point: fc.constantFrom(...taskFailpoints),
      poll: fc.constantFrom(...polls),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("claimed-by-the-dead" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("time" as const),
      milliseconds: fc.constantFrom(1_000, 1_000, leaseMs, leaseMs, 121_000, lifeMs),
    }),
  },
);
const story = fc.array(fc.tuple(fc.nat({ max: tasksCount - 1 }), move), { minLength: 1, maxLength: 14 });

let world: ScriptedTasks;
let pictures: MadeOutput[];
beforeAll(async () => {
  world = await openScriptedTasks();
  pictures = await makeOutputs(2);
});
afterAll(() => world[Symbol.asyncDispose]());

test("with any upstream answers and any crashes, a task ends once, is paid once and is submitted once at a time", {
  timeout: 400_000,
}, async () => {
  const counts = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(story, fc.record({ isRepeatable: fc.boolean(), endsWell: fc.boolean() }), async (moves, fate) => {
      for (const state of await live(moves, fate)) counts.set(state, (counts.get(state) ?? 0) + 1);
    }),
    { numRuns: 40, endOnFailure: true },
  );
  console.log(`task chaos: ${[...counts].map(([state, count]) => `${count} ${state}`).join(", ")}`);
});

/** Runs one story, and ends every task. Returns how they ended. */
async function live(
  moves: readonly (readonly [number, Move])[],
  { isRepeatable, endsWell }: { isRepeatable: boolean; endsWell: boolean },
): Promise<string[]> {
  const { upstream, clock, parts } = world;
  upstream.traits = { ...upstream.traits, isRepeatable };
  const { hears, says, sentTwice } = scriptUpstream(isRepeatable);
  const ids: TaskId[] = [];
  for (let index = 0; index < tasksCount; index += 1) ids.push(await world.submit({ lifeMs }));
  const known = new Map<TaskId, Task>();

  async function make(id: TaskId, next: Move): Promise<void> {
    switch (next.kind) {
      case "step":
        hears(next.submit);
        says(next.poll, next.progress);
        await world.step(id).catch(expectDeath);
        return;
      case "stalled": {
        // The worker holds the task while another claims it and goes on; then it writes its result.
        await world.makeDue(id);
        const late = await world.claim(id);
        hears("accepted");
        says("running", 50);
        await world.step(id);
        says(next.poll, next.progress);
        if (late !== null) await world.advance(late);
        return;
      }
      case "cancel":
        upstream.cancel = async () => next.answer;
        await world.cancel(id);
        return;
      case "dies-at":
        hears("accepted");
        says(next.poll, 30);
        parts.failpoint = (point) => {
          if (point === next.point) throw new Error("The process died.");
        };
        await world.step(id).catch(expectDeath);
        parts.failpoint = () => {};
        return;
      case "claimed-by-the-dead":
        await world.makeDue(id);
        await world.claim(id);
        return;
      case "time":
        clock.advance(next.milliseconds);
    }
  }

  for (const [index, next] of moves) {
    const id = ids[index] as TaskId;
    await make(id, next);
    for (const each of ids) known.set(each, expectGrowth(known.get(each), await world.read(each)));
  }
  // In half of all stories the upstream succeeds before the deadline.
  for (const id of endsWell ? [...ids, ...ids] : []) {
    await make(id, { kind: "step", submit: "accepted", poll: "done", progress: 0 });
    known.set(id, expectGrowth(known.get(id), await world.read(id)));
  }
  clock.advance(lifeMs);
  for (const id of ids) {
    await world.step(id);
    known.set(id, expectGrowth(known.get(id), await world.read(id)));
    await expectUnchangeable(id);
  }
  expect(sentTwice).toEqual([]);
  expect(await world.findWrongs()).toEqual([]);
  const ends = ids.map((id) => known.get(id)?.state ?? "lost");
  expect(ends.every((state) => ["succeeded", "failed", "canceled", "expired"].includes(state))).toBe(true);
  return ends;
}

/** Makes the upstream answer as scripted from now on, and records repeated submissions that it may already have. */
function scriptUpstream(isRepeatable: boolean) {
  const { upstream } = world;
  const mayHave = new Set<string>();
  const sentTwice: string[] = [];
  const hears = (outcome: (typeof submissions)[number]): void => {
    upstream.submit = async ({ taskId }) => {
      if (mayHave.has(taskId) && !isRepeatable) sentTwice.push(taskId);
      if (outcome === "refused") throw new ProviderError("rejected", "No.");
      if (outcome === "overloaded") throw new ProviderError("overloaded", "Later.");
      mayHave.add(taskId);
      if (outcome === "died") throw new Error("The process died.");
      if (outcome === "ambiguous") return { kind: "ambiguous", error: new ProviderError("timeout", "Silence.") };
      return outcome === "done" ? { kind: "done", outputs: pictures } : { kind: "accepted", handle: { id: taskId } };
    };
  };
  const says = (outcome: (typeof polls)[number], percent: number): void => {
    upstream.poll = async (_handle, { taskId }) => {
      switch (outcome) {
        case "queued":
          return { kind: "running", isStarted: false, progress: null };
        case "running":
          return { kind: "running", isStarted: true, progress: percent };
        case "done":
          return { kind: "done", outputs: pictures };
        case "one-only":
          return { kind: "done", outputs: pictures.slice(0, 1) };
        case "failed":
          mayHave.delete(taskId);
          return { kind: "failed", error: new ProviderError("overloaded", "It broke.") };
        case "rejected":
          mayHave.delete(taskId);
          return { kind: "failed", error: new ProviderError("rejected", "No.") };
        case "canceled":
          mayHave.delete(taskId);
          return { kind: "canceled", outputs: pictures.slice(0, 1) };
        case "lost":
          return { kind: "lost" };
        case "silent":
          throw new ProviderError("timeout", "Silence.");
      }
    };
  };
  return { hears, says, sentTwice };
}

function expectDeath(error: unknown): void {
  if (!(error instanceof Error) || error.message !== "The process died.") throw error;
}

/** Progress never falls, versions grow, and final tasks do not change. */
function expectGrowth(before: Task | undefined, after: Task): Task {
  if (before === undefined) return after;
  if (isFinal(before.state)) expect(after).toEqual(before);
  expect(after.progress).toBeGreaterThanOrEqual(before.progress);
  expect(after.progress === 100).toBe(after.state === "succeeded");
  expect(after.version).toBeGreaterThanOrEqual(before.version);
  const isSeenToChange = after.state !== before.state || after.progress !== before.progress;
  if (isSeenToChange) expect(after.version).toBeGreaterThan(before.version);
  return after;
}

/** The database itself rejects changes of a final task. */
async function expectUnchangeable(id: TaskId): Promise<void> {
  const { database } = world.parts;
  for (const change of ["state = 'processing', phase = 'running'", "charge = 1", "output = '[]'", "progress = 0"]) {
    const update = sql`update tasks set ${sql.raw(change)} where id = ${id}`.execute(database);
    await expect(update).rejects.toThrow(/cannot become/);
  }
}
