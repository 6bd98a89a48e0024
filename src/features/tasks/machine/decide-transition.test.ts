import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countRuns } from "../../../../test/harness/count-runs.ts";
import { nano } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { ProviderError, type ProviderErrorKind } from "../../../providers/contract.ts";
import { changeTask, parseTask } from "../parse-task.ts";
import { nextStates, type Task, type TaskOutput, type TaskPhase, type TaskRecord } from "../task.ts";
import type { Handover } from "../task-target.ts";
import { decideTransition } from "./decide-transition.ts";
import {
  type Cell,
  listPlaces,
  type Outcome,
  outcomeTable,
  type Step,
  type Transition,
  type Upstream,
} from "./task-machine.ts";

const start = new Date("2026-11-15T12:00:00Z");
const lifeMs = 600_000;
const target = { providerId: "fal", upstreamModel: "one", keyNumber: 0 };
const drama = {
  ...{ type: "drama", request: { type: "drama", title: "t" }, target: null, handle: null, submittedAt: null },
  steps: [{ name: "script", state: "processing", progress: 0, output: [], taskIds: {} }],
};

function inMs(milliseconds: number): Date {
  return new Date(start.getTime() + milliseconds);
}

type Fields = Partial<TaskRecord> | Record<string, unknown>;

function createTask(fields: Fields = {}): Task {
  const phase = (fields.phase ?? "ready") as TaskPhase;
  const isOver = phase === "ended";
  const error = isOver && (fields.state ?? "failed") === "failed" ? ends[1].error : null;
  return parseTask({
    ...{ id: "task_1", accountId: "acct_1", keyId: "key_1", parentId: null, type: "image", model: "image" },
    ...{ state: isOver ? "failed" : "queued", phase, progress: 0, version: 1 },
    request: { type: "image", prompt: "p", width: 1, height: 1, count: 2 },
    terms: {
      ...{ priceId: "price", rate: nano(5n), per: 1n, minimum: nano(0n), counts: "images", unitsMax: 2n },
      ...{ quota: { kind: "image", unitsMax: 2n }, budgetAmount: null, extras: [] },
    },
    ...{
      inputs: [],
      steps: [],
      holdId: "hold_1",
      outputIds: ["file_1", "file_2"],
      output: [],
      warnings: [],
      error,
    },
    ...{ charge: nano(0n), units: 0n, metadata: null, callbackUrl: null, requestId: "req_1", clientRequestId: null },
    ...{ target: phase === "ready" ? null : target, handle: phase === "running" ? { id: "1" } : null, tried: [] },
    ...{ waitsFor: null, lostAt: null, cancelRequestedAt: null, cancelAskedAt: null, deadlineAt: inMs(lifeMs) },
    ...{ createdAt: start, startedAt: null, updatedAt: start, traceparent: null },
    ...{ submittedAt: phase === "running" ? start : null, finishedAt: isOver ? start : null, promptErasedAt: null },
    ...fields,
  } as TaskRecord);
}

const upstream: Upstream = {
  ...{ target, limits: null, keepsWork: true, pollMsMin: 1_000, pollMsMax: 30_000 },
  ...{ hasAlternative: false, jitter: 0.5 },
};
const limits = { place: "fal", keyNumber: null, tasksMax: 1, perMinute: null };
const upstreams = [upstream, { ...upstream, keepsWork: false, hasAlternative: true }, { ...upstream, limits }];
const image: TaskOutput = {
  ...{ type: "image", fileId: "file_1", contentType: "image/png", bytes: 1, sha256: "0", width: 1, height: 1 },
  ...{ durationMs: null, expiresAt: inMs(86_400_000) },
};
const handover = {} as Handover;
const errors = [
  ...(["rejected", "rate-limited", "overloaded", "timeout", "content-refused"] as const).map(
    (kind) => new ProviderError(kind, "No."),
  ),
  new ProviderError("overloaded", "Later.", { retryAfterMs: 5_000 }),
];
const ends = [
  { state: "succeeded", output: [image], warnings: [] },
  { state: "failed", error: { code: "upstream_unavailable", message: "No.", param: null, isRetryable: true } },
  { state: "canceled", output: [] },
  { state: "expired" },
] as const;

/** Every outcome, in every variant that could make a difference. */
function listOutcomes(): Outcome[] {
  const atUpstream = upstreams.flatMap((at): Outcome[] => [
    { kind: "target-chosen", handover, upstream: at },
    { kind: "accepted", handle: { id: "1" }, upstream: at },
    { kind: "ambiguous", upstream: at },
    { kind: "running", isStarted: true, progress: 40, upstream: at },
    { kind: "running", isStarted: false, progress: Number.NaN, handle: { id: "2" }, upstream: at },
    { kind: "canceled-upstream", outputs: [], upstream: at },
    { kind: "lost", upstream: at },
    { kind: "unreachable", retryAfterMs: null, upstream: at },
    { kind: "stopped", outputs: [], upstream: at },
    { kind: "made", outputs: [], upstream: at },
    ...errors.flatMap((error): Outcome[] => [
      { kind: "refused", error, upstream: at },
      { kind: "failed", error, upstream: at },
      { kind: "uncollectable", error, isUseless: false, as: "succeeded", upstream: at },
      { kind: "uncollectable", error, isUseless: false, as: "canceled", upstream: at },
      { kind: "uncollectable", error, isUseless: true, as: "succeeded", upstream: at },
    ]),
  ]);
  return [
    ...atUpstream,
    { kind: "claimed" },
    { kind: "no-target", retryAfterMs: null },
    { kind: "no-target", retryAfterMs: 1_000 },
    { kind: "inputs-rejected", error: new AppError("invalid_url", "No.") },
    { kind: "ambiguous", upstream: null },
    { kind: "route-gone" },
    { kind: "stop-refused" },
    { kind: "abandoned", isUpstreamAsked: true },
    { kind: "abandoned", isUpstreamAsked: false },
    { kind: "collected", output: [image], as: "succeeded" },
    { kind: "collected", output: [], as: "canceled" },
    { kind: "steps-changed", steps: [], progress: 30, children: [] },
    { kind: "waiting", until: inMs(1_000) },
    ...ends.map((end): Outcome => ({ kind: "concluded", end })),
    { kind: "cancel-requested", isCancelable: true },
    { kind: "cancel-requested", isCancelable: false },
    { kind: "wake-requested" },
    { kind: "broken", pauseMs: 0 },
    { kind: "interrupted", pauseMs: 1_000 },
  ];
}

const outcomes = listOutcomes();

/** Outcomes that can arrive while no worker holds the task, or while one is advancing it. */
const isFromOutside = ({ kind }: Outcome): boolean =>
  kind === "cancel-requested" || kind === "wake-requested" || kind === "steps-changed";

/** Invariants of every transition from an open task. One assertion for all: each takes longer than many decisions. */
function checkTransition(task: Task, outcome: Outcome, transition: Transition): void {
  const { change, end, lease, next, isVisible, children } = transition;
  const isEnd = change.phase === "ended";
  const following: readonly string[] = nextStates[task.state];
  const isPaid = (change.output ?? []).length > 0;
  const money = task.holdId === null ? "none" : isPaid ? "settle" : "release";
  const event = task.parentId === null ? `task.${change.state}` : null;
  const mayPassDeadline = lease.kind !== "due" || outcome.kind === "waiting" || outcome.kind === "abandoned";
  const rules = {
    "money is decided at the end": (end !== null) === isEnd,
    "the lease ends at the end": (lease.kind === "end") === isEnd,
    "the finish is dated at the end": (change.finishedAt !== undefined) === isEnd,
    "an output is paid, and nothing else": end === null || end.money.kind === money,
    "the event names the state": end === null || end.event === event,
    "an end is visible": end === null || isVisible,
    "a failure has an error": end === null || (change.state === "failed") === (change.error !== undefined),
    "the state may follow":
      change.state === undefined || change.state === task.state || following.includes(change.state),
    "progress does not fall": (change.progress ?? task.progress) >= task.progress,
    "a success is all progress":
      change.progress === undefined || (change.progress === 100) === (change.state === "succeeded"),
    "a released task has a due time": isEnd || isFromOutside(outcome) || (next === null) === (lease.kind === "due"),
    "it is due before its deadline, unless that has passed":
      mayPassDeadline || lease.at <= task.deadlineAt || lease.at <= start,
    // Except children, which the parent pays.
    "what an upstream may have accepted is not resubmitted":
      outcome.kind !== "ambiguous" || change.phase !== "ready" || task.parentId !== null,
    "children have steps": children.length === 0 || change.steps !== undefined,
  };
  const broken = Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
  expect([task.phase, outcome.kind, ...broken]).toEqual([task.phase, outcome.kind]);
}

/** Every kind of open task in which an outcome could end differently. */
function listTasks(phase: TaskPhase, now: Date): Task[] {
  const asked = phase === "running" ? [{ cancelRequestedAt: start, cancelAskedAt: start }] : [];
  const cancels = [{}, { cancelRequestedAt: start }, ...asked];
  const losses = [{}, { lostAt: now }, { lostAt: new Date(now.getTime() - 120_000) }];
  const families = [{}, { parentId: "task_0", holdId: null }];
  const tries = [{}, { tried: [target, target] }];
  const deadlines = [{}, { deadlineAt: now }];
  const kinds = phase === "ready" || phase === "running" ? [{}, drama] : [{}];
  const lists: Fields[][] = [cancels, losses, families, tries, deadlines, kinds];
  const fields = lists.reduce<Fields[]>(
    (all, list) => all.flatMap((one) => list.map((other) => ({ ...one, ...other }))),
    [{}],
  );
  // A composite task runs at no upstream, so no cancel was ever sent.
  const possible = fields.filter((field) => !("type" in field && "cancelAskedAt" in field));
  return possible.map((field) => createTask({ phase, ...field }));
}

const compositeOnly = new Set<Outcome["kind"]>(["steps-changed", "waiting", "concluded"]);
const anyTask = new Set<Outcome["kind"]>(["claimed", "cancel-requested", "wake-requested", "broken", "interrupted"]);
const phases: readonly TaskPhase[] = ["ready", "submitting", "unknown", "running", "ended"];

test("every outcome in every phase leads exactly where the table allows", () => {
  const now = inMs(300_000);
  for (const [kind, row] of Object.entries<Record<TaskPhase, Cell>>(outcomeTable)) {
    for (const phase of phases) {
      const cell = row[phase];
      if (typeof cell === "string") continue;
      const seen = new Set<string>();
      for (const outcome of outcomes.filter((one) => one.kind === kind)) {
        for (const task of listTasks(phase, now)) {
          if (!anyTask.has(outcome.kind) && compositeOnly.has(outcome.kind) !== (task.type === "drama")) continue;
          const transition = decideTransition(task, outcome, now);
          checkTransition(task, outcome, transition);
          for (const place of listPlaces(phase, transition)) seen.add(place);
        }
      }
      expect([kind, phase, ...[...seen].toSorted()]).toEqual([kind, phase, ...[...cell].toSorted()]);
    }
  }
});

test("an impossible outcome throws, and a late outcome changes nothing", () => {
  const now = inMs(300_000);
  const answers = { ignore: 0, impossible: 0 };
  for (const outcome of outcomes) {
    for (const phase of phases) {
      const cell: Cell = outcomeTable[outcome.kind][phase];
      if (cell !== "ignore" && cell !== "impossible") continue;
      answers[cell] += 1;
      const about = `${outcome.kind} in ${phase}`;
      const tasks =
        phase === "ended" ? finalStates.map((state) => createTask({ phase, state })) : listTasks(phase, now);
      if (cell === "impossible") {
        const complaints = tasks.map((task) => catchMessage(() => decideTransition(task, outcome, now)));
        const others = complaints.filter((text) => !text.includes(`The outcome ${outcome.kind} of task_1`));
        expect(others, about).toEqual([]);
        continue;
      }
      const found = tasks.map((task) => {
        const { change, end, next, lease } = decideTransition(task, outcome, now);
        return { change, end, next, lease };
      });
      const unchanged = { change: {}, end: null, next: null, lease: { kind: "keep" } };
      expect(found, about).toEqual(tasks.map(() => unchanged));
    }
  }
  expect([answers.ignore > 0, answers.impossible > 0]).toEqual([true, true]);
});

function catchMessage(decide: () => unknown): string {
  try {
    decide();
  } catch (error) {
    return String(error);
  }
  return "no error";
}

test("an upstream's answer about a task that no upstream has is an error", () => {
  const task = createTask({ phase: "running", ...drama });
  expect(() => decideTransition(task, { kind: "unreachable", retryAfterMs: null, upstream }, start)).toThrow(
    "is at no upstream",
  );
});

const finalStates = ["succeeded", "failed", "canceled", "expired"] as const;

/** The outcomes that a step can have. */
const outcomesOfSteps = {
  "choose-target": ["no-target", "inputs-rejected", "target-chosen"],
  submit: ["accepted", "refused", "ambiguous", "made"],
  recover: ["accepted", "refused", "ambiguous", "made", "inputs-rejected"],
  poll: ["running", "failed", "canceled-upstream", "lost", "unreachable", "route-gone", "made", "waiting"],
  stop: ["route-gone", "stop-refused", "stopped"],
  collect: ["collected", "uncollectable"],
  orchestrate: ["steps-changed", "waiting", "concluded"],
  abandon: ["abandoned"],
} as const satisfies Record<Step["kind"], readonly Outcome["kind"][]>;

/** What happens around a step: nothing, a crash, an internal error, or a request from outside before its outcome. */
const events = ["none", "none", "none", "none", "crash", "broken", "interrupted", "cancel", "wake", "pass"] as const;

test("whatever its steps return, whichever worker dies and whenever it is canceled, a task ends once and is charged once", () => {
  const ended = new Map<string, number>();
  const kinds = fc.record({ isChild: fc.boolean(), isComposite: fc.boolean(), isFree: fc.boolean() });
  fc.assert(
    fc.property(kinds, fc.array(fc.nat({ max: 10_000 }), { maxLength: 60 }), (kind, tape) => {
      const state = live(kind, tape);
      ended.set(state, (ended.get(state) ?? 0) + 1);
    }),
    { numRuns: countRuns(2_000) },
  );
  expect([...ended.keys()].toSorted()).toEqual(["canceled", "expired", "failed", "succeeded"]);
});

/** Replays the tape, then passes the deadline. Returns how the task ended. */
function live(kind: { isChild: boolean; isComposite: boolean; isFree: boolean }, tape: readonly number[]): string {
  const numbers = tape[Symbol.iterator]();
  const pick = <T>(list: readonly T[]): T => list[(numbers.next().value ?? 0) % list.length] as T;
  let moves = tape.length;
  let now = start;
  let decidedMoney = 0;
  let task = createTask({
    ...(kind.isChild ? { parentId: "task_0" } : {}),
    ...(kind.isChild || kind.isFree ? { holdId: null } : {}),
    ...(kind.isComposite ? drama : {}),
  });

  /** Mirrors what `applyTransition` writes. */
  function take(outcome: Outcome): Step | null {
    const decided = decideTransition(task, outcome, now);
    checkTransition(task, outcome, decided);
    const { change, next, end } =
      decided.admission !== null && pick([true, false]) ? decided.admission.whenFull : decided;
    if (end !== null) decidedMoney += 1;
    task = changeTask(task, change);
    return next;
  }

  function look(): void {
    let step = take({ kind: "claimed" });
    while (step !== null && task.phase !== "ended" && moves > 0) {
      moves -= 1;
      const event = pick(events);
      if (event === "crash") return;
      if (event === "broken" || event === "interrupted") return void take({ kind: event, pauseMs: 0 });
      if (event === "pass") now = new Date(now.getTime() + pick([1_000, 12_000, 121_000]));
      if (event === "wake") take({ kind: "wake-requested" });
      if (event === "cancel") {
        const { phase } = task;
        take({ kind: "cancel-requested", isCancelable: pick([true, false]) });
        // The worker has lost the lease, unless the task is being submitted.
        if (phase !== "submitting") return;
      }
      const able: readonly Outcome["kind"][] = outcomesOfSteps[step.kind];
      const outcome = pick(outcomes.filter((one) => able.includes(one.kind)));
      const next = outcome === undefined ? null : take(outcome);
      step = outcome?.kind === "steps-changed" ? step : next;
    }
  }

  while (moves > 0 && (task.phase as string) !== "ended") {
    moves -= 1;
    look();
  }
  now = new Date(Math.max(now.getTime(), task.deadlineAt.getTime()));
  if (task.phase !== "ended" && take({ kind: "claimed" })?.kind === "abandon") {
    take({ kind: "abandoned", isUpstreamAsked: true });
  }
  expect([task.phase, decidedMoney]).toEqual(["ended", 1]);
  return task.state;
}

test.for([
  ["interrupted", 0, 0],
  ["interrupted", 1_000, 1_000],
  ["broken", 0, 5_000],
  // The step may have polled.
  ["broken", 10_000, 10_000],
] as const)(
  "a task whose step was %s, with an upstream that needs %d ms, is due %d ms later",
  ([kind, pauseMs, delayMs]) => {
    const { lease } = decideTransition(createTask({ phase: "running" }), { kind, pauseMs }, inMs(1_000));
    expect(lease).toEqual({ kind: "due", at: inMs(1_000 + delayMs) });
  },
);

describe("a worker that has claimed a task", () => {
  function decide(fields: Fields): string {
    const { change, next } = decideTransition(createTask(fields), { kind: "claimed" }, inMs(1_000));
    return change.state ?? next?.kind ?? "nothing";
  }
  const now = inMs(1_000);
  test.for<[string, Fields, string]>([
    ["chooses a target for a new one", { phase: "ready" }, "choose-target"],
    ["recovers one that was being handed over when its worker died", { phase: "submitting" }, "recover"],
    ["looks for one of which it is unknown whether it arrived", { phase: "unknown" }, "recover"],
    ["polls one that an upstream has", { phase: "running" }, "poll"],
    ["ends a new one that is not wanted", { phase: "ready", cancelRequestedAt: now }, "canceled"],
    ["ends one of unknown fate that is not wanted", { phase: "unknown", cancelRequestedAt: now }, "canceled"],
    ["stops one that an upstream has", { phase: "running", cancelRequestedAt: now }, "stop"],
    ["stops it once", { phase: "running", cancelRequestedAt: now, cancelAskedAt: now }, "poll"],
    ["ends a new one whose time is over", { phase: "ready", deadlineAt: now }, "expired"],
    ["has the upstream's job canceled once its time is over", { phase: "running", deadlineAt: now }, "abandon"],
    ["looks for the job of one of unknown fate to cancel it", { phase: "unknown", deadlineAt: now }, "abandon"],
    ["does so for one that was being handed over", { phase: "submitting", deadlineAt: now }, "abandon"],
    ["orchestrates a composite one", drama, "orchestrate"],
    ["orchestrates it while its children are made", { phase: "running", ...drama }, "orchestrate"],
    ["ends a composite one whose time is over", { phase: "running", ...drama, deadlineAt: now }, "expired"],
  ])("%s", ([, fields, step]) => {
    expect(decide(fields)).toBe(step);
  });
});

test.each([
  ["is busy until a known time", "overloaded", 5_000, 5_000],
  ["is busy for a long time", "overloaded", 3_600_000, 30_000],
  ["limits the rate", "rate-limited", null, 10_000],
] as const)("a task whose only upstream %s waits for it", (_name, kind, retryAfterMs, waitMs) => {
  const { change, lease } = refuse({ kind, retryAfterMs, hasAlternative: false });
  expect(lease).toEqual({ kind: "due", at: inMs(waitMs) });
  // Untried, so the task returns to it.
  expect(change).toMatchObject({ phase: "ready", tried: [] });
  // Another upstream is tried at once.
  const elsewhere = refuse({ kind, retryAfterMs, hasAlternative: true });
  expect(elsewhere.lease).toEqual({ kind: "due", at: start });
  expect(elsewhere.change).toMatchObject({ phase: "ready", tried: [target] });
});

test("a task does not return to an upstream that failed, or that rejected the request", () => {
  const failed = refuse({ kind: "overloaded", retryAfterMs: null, hasAlternative: false });
  expect(failed.change).toMatchObject({ phase: "ready", tried: [target] });
  const rejected = refuse({ kind: "rejected", retryAfterMs: 5_000, hasAlternative: false });
  expect(rejected.change.state).toBe("failed");
});

function refuse(given: { kind: ProviderErrorKind; retryAfterMs: number | null; hasAlternative: boolean }): Transition {
  const error = new ProviderError(given.kind, "No.", { retryAfterMs: given.retryAfterMs });
  const outcome = { kind: "refused", error, upstream: { ...upstream, hasAlternative: given.hasAlternative } } as const;
  return decideTransition(createTask({ phase: "submitting" }), outcome, start);
}

test("a task past its deadline stays open for a minute at most while its upstream cannot be reached to cancel it", () => {
  const decide = (lateMs: number, isUpstreamAsked: boolean): Transition =>
    decideTransition(createTask({ phase: "running" }), { kind: "abandoned", isUpstreamAsked }, inMs(lifeMs + lateMs));
  expect(decide(0, true).change.state).toBe("expired");
  const retry = decide(0, false);
  expect([retry.change, retry.lease]).toEqual([{}, { kind: "due", at: inMs(lifeMs + 5_000) }]);
  expect(decide(59_999, false).change.state).toBeUndefined();
  expect(decide(60_000, false).change.state).toBe("expired");
});

test("polls back off with jitter, within bounds, the longer a job runs", () => {
  const ask = (elapsedMs: number, jitter: number, retryAfterMs: number | null = null): number => {
    const task = createTask({ phase: "running", submittedAt: start, deadlineAt: inMs(1e9) });
    const now = inMs(elapsedMs);
    const outcome = { kind: "unreachable", retryAfterMs, upstream: { ...upstream, jitter } } as const;
    const { lease } = decideTransition(task, outcome, now);
    return "at" in lease ? lease.at.getTime() - now.getTime() : 0;
  };
  expect(ask(0, 0.5)).toBe(1_000);
  // The vendor's fastest interval is a floor, also with jitter.
  expect(ask(0, 0)).toBe(1_000);
  expect(ask(0, 0, 45_000)).toBe(45_000);
  expect(ask(0, 0, 3_600_000)).toBe(120_000);
  expect(ask(100_000, 0.5)).toBe(10_000);
  expect(ask(10_000_000, 0.5)).toBe(30_000);
  expect(ask(100_000, 0)).toBe(8_000);
  expect(ask(100_000, 0.999_999)).toBe(12_000);
});
