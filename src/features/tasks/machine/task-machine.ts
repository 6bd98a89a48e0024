import type { Bill } from "../../../lib/bill.ts";
import type { Nano } from "../../../lib/money.ts";
import type { AppError } from "../../../platform/errors/app-error.ts";
import type { ProviderError } from "../../../providers/contract.ts";
import type { GenerationTraits, Handle, MadeOutput } from "../../../providers/generation.ts";
import type { UpstreamTarget } from "../../../providers/upstream-health.ts";
import type {
  FinalState,
  NewChild,
  RunningTask,
  StepRecord,
  TaskChange,
  TaskEnd,
  TaskOutput,
  TaskPhase,
} from "../task.ts";
import type { Handover } from "../work/task-target.ts";

/**
 * Where a task may be after an outcome: `same` is the phase that it was in, everything that is no phase a final state.
 * `ignore`: the outcome came too late and changes nothing. `impossible`: our own code is wrong.
 */
export type Cell = readonly (TaskPhase | FinalState | "same")[] | "ignore" | "impossible";
type Row = Readonly<Record<TaskPhase, Cell>>;

const never = { ready: "impossible", submitting: "impossible", unknown: "impossible", running: "impossible" } as const;
const none = { ...never, ended: "impossible" } as const;
/** From outside, and from failures of ours: these can come when the task is just over. */
const late = { ...never, ended: "ignore" } as const;

/** The life of a task: for each outcome and each phase, what may follow. ARCHITECTURE.md draws it. */
export const outcomeTable = {
  // Of a look at a task, by a worker that has just claimed it
  claimed: {
    ready: ["same", "canceled", "expired"],
    submitting: ["same"],
    unknown: ["same", "canceled"],
    running: ["same", "expired"],
    ended: "ignore",
  },
  // Of choosing where it goes
  "no-target": { ...none, ready: ["same", "failed"] },
  "inputs-rejected": { ...none, ready: ["failed"], submitting: ["failed"], unknown: ["failed"] },
  "target-chosen": { ...none, ready: ["same", "submitting"] },
  // Of handing it over, or of looking for it after a crash in the middle of that
  accepted: { ...none, submitting: ["running"], unknown: ["running"] },
  refused: { ...none, submitting: ["ready", "failed"], unknown: ["ready", "failed"] },
  ambiguous: { ...none, submitting: ["unknown", "ready", "failed"], unknown: ["same", "ready", "failed"] },
  // Of asking the upstream that has it
  running: { ...none, running: ["same"] },
  failed: { ...none, running: ["ready", "failed"] },
  "canceled-upstream": { ...none, running: ["same", "ready", "failed"] },
  lost: { ...none, running: ["same", "ready", "failed", "canceled"] },
  unreachable: { ...none, running: ["same"] },
  "route-gone": { ...none, running: ["same", "canceled"] },
  // Of asking it to stop
  stopped: { ...none, running: ["same"] },
  "stop-refused": { ...none, running: ["same"] },
  abandoned: { ...none, submitting: ["same", "expired"], unknown: ["same", "expired"], running: ["same", "expired"] },
  // Of storing what was made
  made: { ...none, submitting: ["same"], unknown: ["same"], running: ["same"] },
  collected: {
    ...none,
    submitting: ["succeeded", "canceled"],
    unknown: ["succeeded", "canceled"],
    running: ["succeeded", "canceled"],
  },
  uncollectable: {
    ...none,
    submitting: ["ready", "failed"],
    unknown: ["ready", "failed"],
    running: ["same", "ready", "failed"],
  },
  // Of composite tasks
  "steps-changed": { ...none, ready: ["running"], running: ["same"] },
  waiting: { ...none, ready: ["same"], running: ["same"] },
  concluded: {
    ...none,
    ready: ["succeeded", "failed", "canceled", "expired"],
    running: ["succeeded", "failed", "canceled", "expired"],
  },
  // From outside, and from our own failures
  "cancel-requested": {
    ready: ["same", "canceled"],
    submitting: ["same"],
    unknown: ["same", "canceled"],
    running: ["same", "canceled"],
    ended: "ignore",
  },
  "wake-requested": { ...late, ready: ["same"], submitting: ["same"], unknown: ["same"], running: ["same"] },
  broken: { ...late, ready: ["same"], submitting: ["same"], unknown: ["same"], running: ["same"] },
  interrupted: { ...late, ready: ["same"], submitting: ["same"], unknown: ["same"], running: ["same"] },
} as const satisfies Record<Outcome["kind"], Row>;

/** Where a transition leads, as the table names it: also where it leads when its provider has no permit left. */
export function listPlaces(phase: TaskPhase, { change, semaphore }: Transition): string[] {
  const place = ({ phase: next, state }: TaskChange): string =>
    next === "ended" ? (state ?? "none") : next === undefined || next === phase ? "same" : next;
  return [place(change), ...(semaphore === null ? [] : [place(semaphore.whenFull.change)])];
}

/** What the machine knows of an upstream that a task is at, or was. */
export type Upstream = Pick<GenerationTraits, "keepsWork" | "pollMsMin" | "pollMsMax"> & {
  target: UpstreamTarget;
  /** How many tasks the provider takes at a time; `null` where it does not say. */
  permitsMax: number | null;
  /** Whether a target is left that can do the task and was not tried. */
  hasAlternative: boolean;
  /** By chance, from 0 to 1: so that tasks are never all polled in the same moment. */
  jitter: number;
};

/** What came of a step, or was asked for from outside. */
export type Outcome =
  | { kind: "claimed" }
  /** Nothing can take it now; something may in so many milliseconds, `null` when everything was tried. */
  | { kind: "no-target"; retryAfterMs: number | null }
  | { kind: "inputs-rejected"; error: AppError }
  | { kind: "target-chosen"; handover: Handover; upstream: Upstream }
  | { kind: "accepted"; handle: Handle; upstream: Upstream }
  /** It is certain that the upstream has not begun. */
  | { kind: "refused"; error: ProviderError; upstream: Upstream }
  /** Nobody knows whether the upstream has it; `null` where the catalog no longer has the upstream. */
  | { kind: "ambiguous"; upstream: Upstream | null }
  | { kind: "running"; isStarted: boolean; progress: number | null; handle?: Handle; upstream: Upstream }
  | { kind: "failed"; error: ProviderError; upstream: Upstream }
  | { kind: "canceled-upstream"; outputs: readonly MadeOutput[]; upstream: Upstream }
  | { kind: "lost"; upstream: Upstream }
  /** The question failed, which says nothing of the task. */
  | { kind: "unreachable"; upstream: Upstream }
  /** The operator took the route out of the catalog. */
  | { kind: "route-gone" }
  | { kind: "stopped"; outputs: readonly MadeOutput[]; upstream: Upstream }
  | { kind: "stop-refused" }
  /** Its deadline has passed; `isUpstreamAsked`: the upstream answered the request to cancel, or cannot be asked. */
  | { kind: "abandoned"; isUpstreamAsked: boolean }
  | { kind: "made"; outputs: readonly MadeOutput[]; upstream: Upstream }
  | { kind: "collected"; output: readonly TaskOutput[]; as: "succeeded" | "canceled" }
  /** `isUseless`: what was made can be fetched, but nothing of it can be used, and never will be. */
  | {
      kind: "uncollectable";
      error: ProviderError;
      isUseless: boolean;
      as: "succeeded" | "canceled";
      upstream: Upstream;
    }
  | { kind: "steps-changed"; steps: readonly StepRecord[]; progress: number; children: readonly NewChild[] }
  | { kind: "waiting"; until: Date }
  | { kind: "concluded"; end: TaskEnd }
  | { kind: "cancel-requested"; isCancelable: boolean }
  | { kind: "wake-requested" }
  /** A step failed for a reason of ours. */
  | { kind: "broken" }
  /** A step was cut off: the worker stops, or the task's time is over. */
  | { kind: "interrupted" };

/** Work that an upstream has accepted. */
export type UpstreamJob = Pick<RunningTask, "target" | "handle">;

/** What a worker does next with a task that it has claimed, before anything is written. */
export type Step =
  | { kind: "choose-target" }
  | { kind: "submit"; handover: Handover }
  | { kind: "recover"; target: UpstreamTarget }
  | { kind: "poll"; job: UpstreamJob }
  | { kind: "stop"; job: UpstreamJob }
  | { kind: "collect"; outputs: readonly MadeOutput[]; as: "succeeded" | "canceled"; upstream: Upstream }
  | { kind: "orchestrate" }
  /**
   * Its deadline has passed: cancels the upstream's job before the end is written, so that a crash repeats it. Without a
   * handle where it was handed over and not answered.
   */
  | { kind: "abandon"; target: UpstreamTarget; handle: Handle | null };

/** `keep`: the worker goes on with it. `revoke`: due then, and whoever has claimed it has lost it. */
export type LeaseChange = { kind: "keep" } | { kind: "due"; at: Date } | { kind: "revoke"; at: Date } | { kind: "end" };

/** What becomes of the money on hold for a task that ends. */
export type Money =
  | { kind: "none"; units: bigint }
  | { kind: "release"; units: bigint }
  | { kind: "settle"; bill: Bill; units: bigint; budgetAmount: Nano | null };

/** What is written together, and what is done after that. */
export type Transition = {
  change: TaskChange;
  /** Whether callers can see the change: then the task has a new version. */
  isVisible: boolean;
  lease: LeaseChange;
  /** Only of an end; an event where the task's caller is to hear of it. */
  end: { money: Money; event: `task.${FinalState}` | null; cancelsChildren: boolean } | null;
  /** Written only if the provider has a permit left; else `whenFull` is. */
  semaphore: { providerId: string; permitsMax: number; whenFull: Transition } | null;
  children: readonly NewChild[];
  /** The provider whose permit is free after this. */
  frees: string | null;
  refusal: "not-cancelable" | null;
  next: Step | null;
};
