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

/** What may follow a state. Nothing follows a final one. */
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
 * Where a task is on its way: no upstream has it; it is being handed to one; whether one has it is unknown; one has it;
 * it is over. What leads from one to another stands in `task-machine.ts`.
 */
export type TaskPhase = "ready" | "submitting" | "unknown" | "running" | "ended";

/** What a task starts from: a file of the account, or an address that the worker fetches. */
export type TaskInput = { role: GenerationInput["role"]; param: string } & ({ fileId: FileId } | { url: string });

/** Prices as they were when the task was made, and how much the task may use of them. */
export type TaskTerms = UnitTerms | StagedTerms;

/** One price for all that is made. */
export type UnitTerms = CommonTerms & {
  priceId: string;
  /** For each `per` of what is counted. */
  rate: Nano;
  per: bigint;
  minimum: Nano;
  counts: "images" | "calls" | "seconds" | "characters";
  unitsMax: bigint;
};

/** A price for each stage, due when what the stage makes is there. */
export type StagedTerms = CommonTerms & { stages: readonly StageTerms[] };

export type StageTerms = {
  /** The step that makes it, and how what it makes is told from the rest. */
  step: string;
  outputType: TaskOutput["type"];
  priceId: string;
  rate: Nano;
  minimum: Nano;
  counts: "calls" | "seconds";
  unitsMax: bigint;
};

type CommonTerms = {
  quota: { kind: QuotaKind; unitsMax: bigint };
  /** The most that the key may spend in the period of the hold. */
  budgetAmount: Nano | null;
};

/** Something that a task made. Where it can be fetched is decided anew whenever somebody asks. */
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
};

export type TaskError = { code: ErrorCode; message: string; param: string | null; isRetryable: boolean };
export type TaskWarning = {
  code: "fewer_outputs" | "undrawable_characters" | "shortened" | "unheeded_parameter";
  message: string;
};

/** A part of a composite task. */
export type StepRecord = {
  name: string;
  state: TaskState;
  progress: number;
  output: readonly TaskOutput[];
  /** The tasks that it needed, by what each is for. */
  taskIds: Readonly<Record<string, TaskId>>;
};

/** What a feature above this one wants done; only it knows what else is in it. */
export type CompositeRequest = { type: "drama"; title: string };

/** A task as its row has it: what must be there in which phase is not checked yet. `parseTask` makes a `Task` of it. */
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
  /** Empty where the task is not composite. */
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
  /** The span that made it, as a `traceparent`; `null` where its submission was not traced. */
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
  /** Since when what it was asked for is no longer kept: then only the type is left of the request. */
  promptErasedAt: Date | null;
};

/** What a phase decides: each of these is there or not, and no mixture can be written down. */
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
/** No upstream has it; `target` is the last that had it. */
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
/** Its children run; no upstream has the task itself. */
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

/** A task, by its type and its phase. */
export type Task = Common & ((Media & MediaPlace) | (Composite & CompositePlace));

/** One that an upstream has accepted. */
export type RunningTask = Common & Media & Running;

/** What changes on a task's way; all of it begins the same for every task. */
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
/** The version is counted by who writes the change. */
export type TaskChange = Partial<Pick<TaskRecord, Exclude<ChangingField, "version" | "phase"> | "steps">> & Move;

/** A new phase comes with what must be there in it. */
type Move =
  | { phase?: never }
  | { phase: "ready"; handle: null; submittedAt: null }
  | { phase: "submitting"; target: UpstreamTarget; waitsFor: null }
  | { phase: "unknown" }
  | { phase: "running"; handle: Handle; submittedAt: Date }
  | { phase: "running"; steps: readonly StepRecord[] }
  | { phase: "ended"; state: FinalState; finishedAt: Date };

/** A task that another one needs: it has a model of the catalog, and is paid with its parent. */
export type NewChild = { id: TaskId; model: string; request: GenerationRequest; inputs: readonly TaskInput[] };

/** How a task ends. What was made is stored already. */
export type TaskEnd =
  | {
      state: "succeeded";
      output: readonly TaskOutput[];
      warnings: readonly TaskWarning[];
      /** As they are at the end, where the task has any. */
      steps?: readonly StepRecord[];
    }
  | { state: "canceled"; output: readonly TaskOutput[] }
  /** What a composite task had finished by then is kept and charged. */
  | { state: "failed"; error: TaskError; output?: readonly TaskOutput[] }
  | { state: "expired" };

/** A task that a worker has a lease of: a write with an older fencing token changes nothing. */
export type ClaimedTask = Task & { fencingToken: number };

/** One that an upstream does. */
export type MediaTask = Extract<ClaimedTask, Media>;

/** One that is made of other tasks. */
export type CompositeTask = Extract<ClaimedTask, Composite>;

export function isComposite<T extends Pick<Task, "type">>(task: T): task is Extract<T, { type: "drama" }> {
  return task.type === "drama";
}
