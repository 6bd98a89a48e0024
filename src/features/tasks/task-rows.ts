import type { FileId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { Task, TaskOutput, TaskTerms } from "./task.ts";

/** A row of `tasks`, as the database hands it over. */
export type TaskRow = Tables["tasks"];

/** What is in JSON was written by this same feature, and is trusted. */
export function toTask(row: TaskRow): Task {
  return {
    id: row.id as Task["id"],
    accountId: row.account_id as Task["accountId"],
    keyId: row.key_id as Task["keyId"],
    parentId: row.parent_id as Task["parentId"],
    type: row.type as Task["type"],
    model: row.model,
    state: row.state as Task["state"],
    phase: row.phase as Task["phase"],
    progress: row.progress,
    version: row.version,
    request: row.request as Task["request"],
    inputs: row.inputs as Task["inputs"],
    terms: toTerms(row.terms as StoredTerms),
    holdId: row.hold_id as Task["holdId"],
    outputIds: row.output_ids as FileId[],
    output: (row.output as StoredOutput[]).map(toOutput),
    warnings: row.warnings as Task["warnings"],
    error: row.error as Task["error"],
    charge: nano(row.charge),
    units: row.units,
    metadata: row.metadata as Task["metadata"],
    callbackUrl: row.callback_url,
    requestId: row.request_id,
    clientRequestId: row.client_request_id,
    target: row.target as Task["target"],
    handle: row.handle as Task["handle"],
    tried: row.tried as Task["tried"],
    waitsFor: row.waits_for,
    lostAt: row.lost_at,
    cancelRequestedAt: row.cancel_requested_at,
    cancelAskedAt: row.cancel_asked_at,
    deadlineAt: row.deadline_at,
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    updatedAt: row.updated_at,
  };
}

/** Whole numbers of 64 bits are texts in JSON, which would round them. */
type StoredTerms = Omit<TaskTerms, "rate" | "per" | "minimum" | "unitsMax" | "quota" | "budgetAmount"> & {
  rate: string;
  per: string;
  minimum: string;
  unitsMax: string;
  quota: { kind: TaskTerms["quota"]["kind"]; unitsMax: string };
  budgetAmount: string | null;
};

export function presentTerms({ rate, per, minimum, unitsMax, quota, budgetAmount, ...rest }: TaskTerms): StoredTerms {
  return {
    ...rest,
    rate: String(rate),
    per: String(per),
    minimum: String(minimum),
    unitsMax: String(unitsMax),
    quota: { kind: quota.kind, unitsMax: String(quota.unitsMax) },
    budgetAmount: budgetAmount === null ? null : String(budgetAmount),
  };
}

function toTerms({ rate, per, minimum, unitsMax, quota, budgetAmount, ...rest }: StoredTerms): TaskTerms {
  return {
    ...rest,
    rate: nano(BigInt(rate)),
    per: BigInt(per),
    minimum: nano(BigInt(minimum)),
    unitsMax: BigInt(unitsMax),
    quota: { kind: quota.kind, unitsMax: BigInt(quota.unitsMax) },
    budgetAmount: budgetAmount === null ? null : nano(BigInt(budgetAmount)),
  };
}

type StoredOutput = Omit<TaskOutput, "expiresAt"> & { expiresAt: string };

function toOutput({ expiresAt, ...rest }: StoredOutput): TaskOutput {
  return { ...rest, expiresAt: new Date(expiresAt) };
}
