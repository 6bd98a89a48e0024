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
const nextStates = {
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
 * Where a task is on its way: nobody has it; it is being handed to an upstream; nobody knows whether an upstream has it;
 * an upstream has it; it is over.
 */
type TaskPhase = "ready" | "submitting" | "unknown" | "running" | "ended";

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

/** A part of a task that is made of others. */
export type StepRecord = {
  name: string;
  state: TaskState;
  progress: number;
  output: readonly TaskOutput[];
  /** The tasks that it needed, by what each is for. */
  taskIds: Readonly<Record<string, TaskId>>;
};

/** What a feature above this one wants done; only it knows what is in it. */
export type DirectedRequest = { type: "drama" };

export type Task = {
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
  request: GenerationRequest | DirectedRequest;
  inputs: readonly TaskInput[];
  /** Empty where the task is not made of others. */
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
};

/** A task that a worker has in hand, with the number that proves it. */
export type ClaimedTask = Task & { claim: number };

/** One that an upstream does. */
export type MediaTask = ClaimedTask & { request: GenerationRequest };

/** One that is made of others. */
export type DirectedTask = ClaimedTask & { request: DirectedRequest };

export function isDirected<T extends Pick<Task, "request">>(task: T): task is T & { request: DirectedRequest } {
  return task.request.type === "drama";
}

export function isMedia<T extends Pick<Task, "request">>(task: T): task is T & { request: GenerationRequest } {
  return !isDirected(task);
}
