import { invariant } from "../../lib/invariant.ts";
import { type CompositePlace, isFinal, type MediaPlace, type Task, type TaskChange, type TaskRecord } from "./task.ts";

/** Throws if a row's fields contradict its phase, so no decision is based on a corrupt task. */
export function parseTask(record: TaskRecord): Task {
  const { type, request } = record;
  if (type === "drama") {
    require(record, request.type === "drama", "its request is not a drama's");
    return { ...record, type, request, ...parseCompositePlace(record) };
  }
  require(record, request.type !== "drama", "its request is a drama's");
  return { ...record, type, request, ...parseMediaPlace(record) };
}

/** Applies a change to a task before it is written. */
export function changeTask(task: Task, change: TaskChange): Task {
  return parseTask({ ...task, ...change });
}

function parseMediaPlace(record: TaskRecord): MediaPlace {
  const { phase, target, handle, submittedAt, cancelAskedAt, waitsFor } = record;
  switch (phase) {
    case "ready":
      return { ...parseOpen(record), ...parseNotAccepted(record), phase, target, waitsFor };
    case "submitting":
    case "unknown":
      require(record, target !== null, "it has no target");
      return { ...parseOpen(record), ...parseNotAccepted(record), phase, target, waitsFor: parseNoWait(record) };
    case "running":
      require(record, target !== null && handle !== null && submittedAt !== null, "no upstream has accepted it");
      return {
        ...parseOpen(record),
        ...{ phase, target, handle, submittedAt, cancelAskedAt },
        waitsFor: parseNoWait(record),
      };
    case "ended":
      return parseEnded(record);
  }
}

function parseCompositePlace(record: TaskRecord): CompositePlace {
  const { phase, target, waitsFor } = record;
  switch (phase) {
    case "ready":
      return { ...parseOpen(record), ...parseNotAccepted(record), phase, target, waitsFor };
    case "running":
      require(record, target === null, "it is at an upstream although it is composite");
      return { ...parseOpen(record), ...parseNotAccepted(record), phase, target, waitsFor: parseNoWait(record) };
    case "ended":
      return parseEnded(record);
    case "submitting":
    case "unknown":
      return refuse(record, "it is composite");
  }
}

function parseOpen(record: TaskRecord) {
  const { state, finishedAt, error } = record;
  require(record, !isFinal(state), `it is ${state}`);
  require(record, finishedAt === null && error === null, "it has an end");
  return { state, finishedAt, error };
}

function parseNotAccepted(record: TaskRecord) {
  const { handle, submittedAt, cancelAskedAt } = record;
  require(record, handle === null && submittedAt === null && cancelAskedAt === null, "an upstream has accepted it");
  return { handle, submittedAt, cancelAskedAt };
}

function parseNoWait(record: TaskRecord): null {
  require(record, record.waitsFor === null, "it waits for a permit");
  return record.waitsFor;
}

function parseEnded(record: TaskRecord): MediaPlace & CompositePlace & { phase: "ended" } {
  const { state, finishedAt, error, target, handle, waitsFor, submittedAt, cancelAskedAt } = record;
  const rest = { phase: "ended", target, handle, waitsFor, submittedAt, cancelAskedAt } as const;
  require(record, isFinal(state) && finishedAt !== null, "it has no end");
  if (state === "failed") {
    require(record, error !== null, "it has no error");
    return { ...rest, state, finishedAt, error };
  }
  require(record, error === null, "it has an error");
  return { ...rest, state, finishedAt, error };
}

function require(record: TaskRecord, condition: boolean, problem: string): asserts condition {
  if (!condition) refuse(record, problem);
}

function refuse({ id, type, phase }: TaskRecord, problem: string): never {
  invariant(false, `${id} (${type}) cannot be ${phase}: ${problem}`);
}
