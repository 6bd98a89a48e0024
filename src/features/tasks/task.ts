import type { Bill } from "../../lib/bill.ts";
import type { AccountId, FileId, HoldId, KeyId, TaskId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import type { GenerationInput, GenerationRequest, Handle } from "../../providers/generation.ts";
import type { UpstreamTarget } from "../../providers/upstream-health.ts";

export const taskTypes = ["image", "video", "avatar", "drama", "speech"] as const;
export type TaskType = (typeof taskTypes)[number];

export const taskStates = ["queued", "processing", "succeeded", "failed", "canceled", "expired"] as const;
export type TaskState = (typeof taskStates)[number];
export type FinalState = "succeeded" | "failed" | "canceled" | "expired";

/** Allowed state transitions. */
export const nextStates = {
  queued: ["processing", "succeeded", "failed", "canceled", "expired"],
  processing: ["succeeded", "failed", "canceled", "expired"],
  succeeded: [],
  failed: [],
  canceled: [],
  expired: [],
} as const satisfies Record<TaskState, readonly TaskState[]>;

export function isFinal(state: TaskState): state is FinalState {
  return nextStates[state].length === 0;
}

/**
 * `ready`: at no upstream. `submitting`: being sent to one. `unknown`: an upstream may or may not have it. `running`: an
 * upstream has accepted it. `ended`: final. `task-machine.ts` has the transitions.
 */
export type TaskPhase = "ready" | "submitting" | "unknown" | "running" | "ended";

/** An input: a file of the account, or a URL that the worker fetches. */
export type TaskInput = { role: GenerationInput["role"]; param: string } & ({ fileId: FileId } | { url: string });

/** The kinds of files that an input may be. */
export const kindsByRole = {
  image: ["image"],
  "last-image": ["image"],
  person: ["image", "video"],
  audio: ["audio"],
} as const satisfies Record<TaskInput["role"], readonly string[]>;

type BillItem = Bill["items"][number];

/** Prices at creation time, and the maximum quantities. */
export type TaskTerms = UnitTerms | StagedTerms;

/** One price for all outputs. */
export type UnitTerms = CommonTerms & {
  priceId: string;
  /** Per `per` units. */
  rate: Nano;
  per: bigint;
  minimum: Nano;
  counts: "images" | "calls" | "seconds" | "characters";
  unitsMax: bigint;
  /** Charged once with any output: fees, and marks of what decided the rate. Rates are for `per` units. */
  extras: readonly BillItem[];
};

/** A price for each stage, charged when the stage's output exists. */
export type StagedTerms = CommonTerms & { stages: readonly StageTerms[]; marks: readonly BillItem[] };

export type StageTerms = {
  /** The step of the stage, and the type of its outputs. */
  step: string;
  outputType: TaskOutput["type"];
  priceId: string;
  /** Per `per` units. */
  rate: Nano;
  per: bigint;
  minimum: Nano;
  counts: "calls" | "seconds";
  unitsMax: bigint;
};

type CommonTerms = {
  quota: { kind: QuotaKind; unitsMax: bigint };
  /** The key's spending limit in the hold's period. */
  budgetAmount: Nano | null;
  /** The most that was quoted, if the task could cost more. */
  quoted?: Nano;
};

/** An output of a task. Links are signed on request, because they expire. */
export type TaskOutput = {
  type: "image" | "video" | "audio" | "script" | "roles" | "storyboard" | "subtitles";
  fileId: FileId;
  contentType: string;
  bytes: number;
  sha256: string;
  width: number | null;
  height: number | null;
  durationMs: number | null;
  expiresAt: Date;
  /** The prompt as the upstream rewrote it. Erased with the task's own prompt. */
  revisedPrompt?: string;
};

export type TaskError = { code: ErrorCode; message: string; param: string | null; isRetryable: boolean };
export type TaskWarning = {
  code: "fewer_outputs" | "undrawable_characters" | "shortened";
  message: string;
};

/** A step of a composite task. */
export type StepRecord = {
  name: string;
  state: TaskState;
  progress: number;
  output: readonly TaskOutput[];
  /** The step's child tasks by purpose. */
  taskIds: Readonly<Record<string, TaskId>>;
};

/** The request of a composite task; only the feature that orchestrates it knows the other fields. */
export type CompositeRequest = { type: "drama"; title: string };

/** A task row, not yet checked against its phase. `parseTask` turns it into a `Task`. */
export type TaskRecord = {
  id: TaskId;
  accountId: AccountId;
  keyId: KeyId;
  parentId: TaskId | null;
  type: TaskType;
  model: string;
  state: TaskState;
  phase: TaskPhase;
  progress: number;
  version: number;
  request: GenerationRequest | CompositeRequest;
  inputs: readonly TaskInput[];
  /** Empty unless the task is composite. */
  steps: readonly StepRecord[];
  terms: TaskTerms;
  holdId: HoldId | null;
  outputIds: readonly FileId[];
  output: readonly TaskOutput[];
  warnings: readonly TaskWarning[];
  error: TaskError | null;
  charge: Nano;
  units: bigint;
  metadata: Record<string, string> | null;
  callbackUrl: string | null;
  requestId: string;
  clientRequestId: string | null;
  /** The span that created the task; `null` if the submission was not traced. */
  traceparent: string | null;
  target: UpstreamTarget | null;
  handle: Handle | null;
  tried: readonly UpstreamTarget[];
  waitsFor: string | null;
  lostAt: Date | null;
  cancelRequestedAt: Date | null;
  cancelAskedAt: Date | null;
  deadlineAt: Date;
  createdAt: Date;
  submittedAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  updatedAt: Date;
  /** When the request was erased; only its type is left then. */
  promptErasedAt: Date | null;
};

/** The fields that depend on the phase, so that impossible combinations do not type-check. */
type PhaseField =
  | "phase"
  | "state"
  | "target"
  | "handle"
  | "waitsFor"
  | "submittedAt"
  | "cancelAskedAt"
  | "finishedAt"
  | "error";

type OpenState = Exclude<TaskState, FinalState>;
type Open = { state: OpenState; finishedAt: null; error: null };
type NotAccepted = { handle: null; submittedAt: null; cancelAskedAt: null };
/** At no upstream; `target` is the last one tried. */
type Ready = Open & NotAccepted & { phase: "ready"; target: UpstreamTarget | null; waitsFor: string | null };
type HandedOver = Open & NotAccepted & { phase: "submitting" | "unknown"; target: UpstreamTarget; waitsFor: null };
type Running = Open & {
  phase: "running";
  target: UpstreamTarget;
  handle: Handle;
  submittedAt: Date;
  cancelAskedAt: Date | null;
  waitsFor: null;
};
/** Its children run; the task itself is at no upstream. */
type Orchestrated = Open & NotAccepted & { phase: "running"; target: null; waitsFor: null };
type Ended = Pick<TaskRecord, "target" | "handle" | "waitsFor" | "submittedAt" | "cancelAskedAt"> & {
  phase: "ended";
  finishedAt: Date;
} & ({ state: "failed"; error: TaskError } | { state: Exclude<FinalState, "failed">; error: null });

export type MediaPlace = Ready | HandedOver | Running | Ended;
export type CompositePlace = Ready | Orchestrated | Ended;
type Common = Omit<TaskRecord, PhaseField | "type" | "request">;
type Media = { type: GenerationRequest["type"]; request: GenerationRequest };
type Composite = { type: CompositeRequest["type"]; request: CompositeRequest };

export type Task = Common & ((Media & MediaPlace) | (Composite & CompositePlace));

/** A task that an upstream has accepted. */
export type RunningTask = Common & Media & Running;

/** Fields that change over a task's life; they start the same for every task. */
type ChangingField =
  | "state"
  | "phase"
  | "progress"
  | "version"
  | "output"
  | "warnings"
  | "error"
  | "charge"
  | "units"
  | "target"
  | "handle"
  | "tried"
  | "waitsFor"
  | "lostAt"
  | "cancelRequestedAt"
  | "cancelAskedAt"
  | "submittedAt"
  | "startedAt"
  | "finishedAt";

export type NewTask = Omit<TaskRecord, ChangingField | "updatedAt" | "promptErasedAt" | "traceparent"> &
  Partial<Pick<TaskRecord, "traceparent">>;
/** The store increments the version. */
export type TaskChange = Partial<Pick<TaskRecord, Exclude<ChangingField, "version" | "phase"> | "steps">> & Move;

/** A new phase requires its fields. */
type Move =
  | { phase?: never }
  | { phase: "ready"; handle: null; submittedAt: null }
  | { phase: "submitting"; target: UpstreamTarget; waitsFor: null }
  | { phase: "unknown" }
  | { phase: "running"; handle: Handle; submittedAt: Date }
  | { phase: "running"; steps: readonly StepRecord[] }
  | { phase: "ended"; state: FinalState; finishedAt: Date };

/** A child task, paid by its parent. */
export type NewChild = { id: TaskId; model: string; request: GenerationRequest; inputs: readonly TaskInput[] };

/** `keep`: the worker goes on with it. `revoke`: due then, and the worker that holds the lease has lost it. */
export type LeaseChange = { kind: "keep" } | { kind: "due"; at: Date } | { kind: "revoke"; at: Date } | { kind: "end" };

/** How a task ends. Its outputs are already stored. */
export type TaskEnd =
  | {
      state: "succeeded";
      output: readonly TaskOutput[];
      warnings: readonly TaskWarning[];
      /** The final steps of a composite task. */
      steps?: readonly StepRecord[];
    }
  | { state: "canceled"; output: readonly TaskOutput[] }
  /** A composite task keeps its finished outputs and is charged for them. */
  | { state: "failed"; error: TaskError; output?: readonly TaskOutput[] }
  | { state: "expired" };

/**
 * A leased task: a write with an older fencing token changes nothing. `abandonedAt`: when the lease of a worker that died in
 * the last step expired; `null` if that step ended.
 */
export type ClaimedTask = Task & { fencingToken: number; abandonedAt: Date | null };

/** A task that an upstream runs. */
export type MediaTask = Extract<ClaimedTask, Media>;

/** A task that consists of child tasks. */
export type CompositeTask = Extract<ClaimedTask, Composite>;

export function isComposite<T extends Pick<Task, "type">>(task: T): task is Extract<T, { type: "drama" }> {
  return task.type === "drama";
}
