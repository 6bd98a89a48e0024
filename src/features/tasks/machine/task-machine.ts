import type { Bill } from "../../../lib/bill.ts";
import type { Nano } from "../../../lib/money.ts";
import type { AppError } from "../../../platform/errors/app-error.ts";
import type { ProviderError } from "../../../providers/contract.ts";
import type { GenerationTraits, Handle, MadeOutput } from "../../../providers/generation.ts";
import type { UpstreamTarget } from "../../../providers/upstream-health.ts";
import type { FinalState, NewChild, StepRecord, TaskChange, TaskEnd, TaskOutput, TaskPhase } from "../task.ts";
import type { Handover } from "../work/task-target.ts";

const open = ["ready", "submitting", "unknown", "running"] as const;
const handedOver = ["submitting", "unknown"] as const;

/**
 * The life of a task. For each outcome: the phases in which it can come, and where the task may be after it. `same` is
 * the phase that it was in; everything that is no phase is a final state, which nothing leaves. ARCHITECTURE.md draws it.
 */
export const outcomeTable = {
  // Of a look at a task, by a worker that has just claimed it
  claimed: { from: open, to: ["same", "canceled", "expired"] },
  // Of choosing where it goes
  "no-target": { from: ["ready"], to: ["same", "failed"] },
  "inputs-rejected": { from: ["ready", "submitting", "unknown"], to: ["failed"] },
  "target-chosen": { from: ["ready"], to: ["same", "submitting"] },
  // Of handing it over, or of looking for it after a crash in the middle of that
  accepted: { from: handedOver, to: ["running"] },
  refused: { from: handedOver, to: ["ready", "failed"] },
  ambiguous: { from: handedOver, to: ["same", "unknown", "ready", "failed"] },
  // Of asking the upstream that has it
  running: { from: ["running"], to: ["same"] },
  failed: { from: ["running"], to: ["ready", "failed"] },
  "canceled-upstream": { from: ["running"], to: ["same", "ready", "failed"] },
  lost: { from: ["running"], to: ["same", "ready", "failed", "canceled"] },
  unreachable: { from: ["running"], to: ["same"] },
  "route-gone": { from: ["running"], to: ["same", "canceled"] },
  // Of asking it to stop
  stopped: { from: ["running"], to: ["same"] },
  "stop-refused": { from: ["running"], to: ["same"] },
  abandoned: { from: ["submitting", "unknown", "running"], to: ["same", "expired"] },
  // Of storing what was made
  made: { from: ["submitting", "unknown", "running"], to: ["same"] },
  collected: { from: ["submitting", "unknown", "running"], to: ["succeeded", "canceled"] },
  uncollectable: { from: ["submitting", "unknown", "running"], to: ["same", "ready", "failed"] },
  // Of composite tasks
  "steps-changed": { from: ["ready", "running"], to: ["same", "running"] },
  waiting: { from: ["ready", "running"], to: ["same"] },
  concluded: { from: open, to: ["succeeded", "failed", "canceled", "expired"] },
  // From outside, and from our own failures
  "cancel-requested": { from: open, to: ["same", "canceled"] },
  "wake-requested": { from: open, to: ["same"] },
  broken: { from: open, to: ["same"] },
  interrupted: { from: open, to: ["same"] },
} as const satisfies Record<
  Outcome["kind"],
  { from: readonly TaskPhase[]; to: readonly (TaskPhase | FinalState | "same")[] }
>;

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

/** What a worker does next with a task that it has claimed, before anything is written. */
export type Step =
  | { kind: "choose-target" }
  | { kind: "submit"; handover: Handover }
  | { kind: "recover" }
  | { kind: "poll" }
  | { kind: "stop" }
  | { kind: "collect"; outputs: readonly MadeOutput[]; as: "succeeded" | "canceled"; upstream: Upstream }
  | { kind: "orchestrate" }
  /** Its deadline has passed: cancels the upstream's job before the end is written, so that a crash repeats it. */
  | { kind: "abandon" };

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
