import type { Bill } from "../../../lib/bill.ts";
import type { Nano } from "../../../lib/money.ts";
import type { AppError } from "../../../platform/errors/app-error.ts";
import type { ProviderError } from "../../../providers/contract.ts";
import type { GenerationTraits, Handle, MadeOutput } from "../../../providers/generation.ts";
import type { UpstreamTarget } from "../../../providers/upstream-health.ts";
import type {
  FinalState,
  LeaseChange,
  NewChild,
  RunningTask,
  StepRecord,
  TaskChange,
  TaskEnd,
  TaskOutput,
  TaskPhase,
} from "../task.ts";
import type { TaskLimits } from "../task-limits.ts";
import type { Handover } from "../task-target.ts";

/**
 * Where a task may be after an outcome: a phase, a final state, or `same` for the phase it was in.
 * `ignore`: the outcome came too late and changes nothing. `impossible`: a bug in our own code.
 */
export type Cell = readonly (TaskPhase | FinalState | "same")[] | "ignore" | "impossible";
type Row = Readonly<Record<TaskPhase, Cell>>;

const never = { ready: "impossible", submitting: "impossible", unknown: "impossible", running: "impossible" } as const;
const none = { ...never, ended: "impossible" } as const;
/** Requests from outside and internal errors can arrive just after the task has ended. */
const late = { ...never, ended: "ignore" } as const;

/** The task state machine: for each outcome and phase, what may follow. ARCHITECTURE.md draws it. */
export const outcomeTable = {
  // Claim
  claimed: {
    ready: ["same", "canceled", "expired"],
    submitting: ["same"],
    unknown: ["same", "canceled"],
    running: ["same", "expired"],
    ended: "ignore",
  },
  // Choice of a target
  "no-target": { ...none, ready: ["same", "failed"] },
  "inputs-rejected": { ...none, ready: ["failed"], submitting: ["failed"], unknown: ["failed"] },
  "target-chosen": { ...none, ready: ["same", "submitting"] },
  // Submission, or recovery after a crash in mid-submission
  accepted: { ...none, submitting: ["running"], unknown: ["running"] },
  refused: { ...none, submitting: ["ready", "failed"], unknown: ["ready", "failed"] },
  ambiguous: { ...none, submitting: ["unknown", "ready", "failed"], unknown: ["same", "ready", "failed"] },
  // Poll
  running: { ...none, running: ["same"] },
  failed: { ...none, running: ["ready", "failed"] },
  "canceled-upstream": { ...none, running: ["same", "ready", "failed"] },
  lost: { ...none, running: ["same", "ready", "failed", "canceled"] },
  unreachable: { ...none, running: ["same"] },
  "route-gone": { ...none, running: ["same", "canceled"] },
  // Cancel
  stopped: { ...none, running: ["same"] },
  "stop-refused": { ...none, running: ["same"] },
  abandoned: { ...none, submitting: ["same", "expired"], unknown: ["same", "expired"], running: ["same", "expired"] },
  // Collection of the outputs
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
  // Composite tasks
  "steps-changed": { ...none, ready: ["running"], running: ["same"] },
  waiting: { ...none, ready: ["same"], running: ["same"] },
  concluded: {
    ...none,
    ready: ["succeeded", "failed", "canceled", "expired"],
    running: ["succeeded", "failed", "canceled", "expired"],
  },
  // Requests from outside and internal errors
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

/** The table's names for where a transition leads, including where it leads if the provider has no permit left. */
export function listPlaces(phase: TaskPhase, { change, admission }: Transition): string[] {
  const place = ({ phase: next, state }: TaskChange): string =>
    next === "ended" ? (state ?? "none") : next === undefined || next === phase ? "same" : next;
  return [place(change), ...(admission === null ? [] : [place(admission.whenFull.change)])];
}

/** What the machine knows about a task's current or last upstream. */
export type Upstream = Pick<GenerationTraits, "keepsWork" | "pollMsMin" | "pollMsMax"> & {
  target: UpstreamTarget;
  /** How many tasks the provider runs at a time; `null` if unlimited. */
  limits: TaskLimits | null;
  /** Whether an untried target can run the task. */
  hasAlternative: boolean;
  /** Random, from 0 to 1, so that tasks are not all polled at the same moment. */
  jitter: number;
};

/** The result of a step, or a request from outside. */
export type Outcome =
  | { kind: "claimed" }
  /** No target is available now; one may be after `retryAfterMs`. `null` if every target was tried. */
  | { kind: "no-target"; retryAfterMs: number | null }
  | { kind: "inputs-rejected"; error: AppError }
  | { kind: "target-chosen"; handover: Handover; upstream: Upstream }
  | { kind: "accepted"; handle: Handle; upstream: Upstream }
  /** The upstream certainly has not started. */
  | { kind: "refused"; error: ProviderError; upstream: Upstream }
  /** The upstream may or may not have the task; `null` if the catalog no longer lists the upstream. */
  | { kind: "ambiguous"; upstream: Upstream | null }
  | { kind: "running"; isStarted: boolean; progress: number | null; handle?: Handle; upstream: Upstream }
  | { kind: "failed"; error: ProviderError; upstream: Upstream }
  | { kind: "canceled-upstream"; outputs: readonly MadeOutput[]; upstream: Upstream }
  | { kind: "lost"; upstream: Upstream }
  /** The poll failed, which says nothing about the task. */
  | { kind: "unreachable"; retryAfterMs: number | null; upstream: Upstream }
  /** The operator removed the route from the catalog. */
  | { kind: "route-gone" }
  | { kind: "stopped"; outputs: readonly MadeOutput[]; upstream: Upstream }
  | { kind: "stop-refused" }
  /** The deadline has passed; `isUpstreamAsked`: the upstream answered the cancel request, or supports none. */
  | { kind: "abandoned"; isUpstreamAsked: boolean }
  | { kind: "made"; outputs: readonly MadeOutput[]; upstream: Upstream }
  | { kind: "collected"; output: readonly TaskOutput[]; as: "succeeded" | "canceled" }
  /** `isUseless`: the output was fetched, but none of it is usable and a retry would not help. */
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
  /** A step failed because of an internal error. `pauseMs`: how long its upstream must not be polled; 0 if it has none. */
  | { kind: "broken"; pauseMs: number }
  /** A step was aborted: the worker stops, or the deadline has passed. */
  | { kind: "interrupted"; pauseMs: number };

/** A job that an upstream has accepted. */
export type UpstreamJob = Pick<RunningTask, "target" | "handle">;

/** What a worker does next with a claimed task, before anything is written. */
export type Step =
  | { kind: "choose-target" }
  | { kind: "submit"; handover: Handover }
  | { kind: "recover"; target: UpstreamTarget }
  | { kind: "poll"; job: UpstreamJob }
  | { kind: "stop"; job: UpstreamJob }
  | { kind: "collect"; outputs: readonly MadeOutput[]; as: "succeeded" | "canceled"; upstream: Upstream }
  | { kind: "orchestrate" }
  /**
   * The deadline has passed: cancel the upstream's job before the end is written, so that a crash repeats the cancel.
   * `handle` is `null` if the submission was never answered.
   */
  | { kind: "abandon"; target: UpstreamTarget; handle: Handle | null };

/** What happens to the hold of a task that ends. */
export type Money =
  | { kind: "none"; units: bigint }
  | { kind: "release"; units: bigint }
  | { kind: "settle"; bill: Bill; units: bigint; budgetAmount: Nano | null };

/** What is written together, and what follows the commit. */
export type Transition = {
  change: TaskChange;
  /** Whether callers can see the change; then the version increases. */
  isVisible: boolean;
  lease: LeaseChange;
  /** Only for a final state; `event` is `null` for child tasks. */
  end: { money: Money; event: `task.${FinalState}` | null; cancelsChildren: boolean } | null;
  /** Written only if the provider has room; otherwise `whenFull` is written. */
  admission: { providerId: string; limits: TaskLimits; whenFull: Transition } | null;
  children: readonly NewChild[];
  /** The provider whose permit this releases. */
  frees: string | null;
  refusal: "not-cancelable" | null;
  next: Step | null;
};
