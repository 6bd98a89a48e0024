import type { FileId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Tables } from "../../platform/database/tables.ts";
import { parseTask } from "./parse-task.ts";
import type {
  StagedTerms,
  StageTerms,
  StepRecord,
  Task,
  TaskOutput,
  TaskRecord,
  TaskTerms,
  UnitTerms,
} from "./task.ts";

export type TaskRow = Tables["tasks"];

type BillItem = UnitTerms["extras"][number];

/** JSON columns are trusted, because this feature wrote them; the combination of fields is checked. */
export function toTask(row: TaskRow): Task {
  return parseTask({
    id: row.id as TaskRecord["id"],
    accountId: row.account_id as TaskRecord["accountId"],
    keyId: row.key_id as TaskRecord["keyId"],
    parentId: row.parent_id as TaskRecord["parentId"],
    type: row.type as TaskRecord["type"],
    model: row.model,
    state: row.state as TaskRecord["state"],
    phase: row.phase as TaskRecord["phase"],
    progress: row.progress,
    version: row.version,
    request: row.request as TaskRecord["request"],
    inputs: row.inputs as TaskRecord["inputs"],
    steps: (row.steps as StoredStep[]).map(toStep),
    terms: toTerms(row.terms as StoredTerms),
    holdId: row.hold_id as TaskRecord["holdId"],
    outputIds: row.output_ids as FileId[],
    output: (row.output as StoredOutput[]).map(toOutput),
    warnings: row.warnings as TaskRecord["warnings"],
    error: row.error as TaskRecord["error"],
    charge: nano(row.charge),
    units: row.units,
    metadata: row.metadata as TaskRecord["metadata"],
    callbackUrl: row.callback_url,
    requestId: row.request_id,
    clientRequestId: row.client_request_id,
    traceparent: row.traceparent,
    target: row.target as TaskRecord["target"],
    handle: row.handle as TaskRecord["handle"],
    tried: row.tried as TaskRecord["tried"],
    waitsFor: row.waits_for,
    lostAt: row.lost_at,
    cancelRequestedAt: row.cancel_requested_at,
    cancelAskedAt: row.cancel_sent_at,
    deadlineAt: row.deadline_at,
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    updatedAt: row.updated_at,
    promptErasedAt: row.prompt_erased_at,
  });
}

/** JSON numbers cannot represent 64-bit integers, so they are stored as strings. */
type Stored<T> = T extends bigint
  ? string
  : T extends readonly (infer Item)[]
    ? Stored<Item>[]
    : T extends object
      ? { [key in keyof T]: Stored<T[key]> }
      : T;
/** Tasks of version 0.2.0 lack the optional fields. */
type StoredTerms =
  | (Omit<Stored<UnitTerms>, "extras"> & Partial<Pick<Stored<UnitTerms>, "extras">>)
  | (Omit<Stored<StagedTerms>, "stages" | "marks"> & {
      stages: (Omit<Stored<StageTerms>, "per"> & { per?: string })[];
      marks?: Stored<BillItem>[];
    });

export function presentTerms(terms: TaskTerms): StoredTerms {
  return JSON.parse(JSON.stringify(terms, (_, value) => (typeof value === "bigint" ? String(value) : value)));
}

function toTerms(terms: StoredTerms): TaskTerms {
  const common = {
    quota: { kind: terms.quota.kind, unitsMax: BigInt(terms.quota.unitsMax) },
    budgetAmount: terms.budgetAmount === null ? null : nano(BigInt(terms.budgetAmount)),
    ...(terms.quoted === undefined ? {} : { quoted: nano(BigInt(terms.quoted)) }),
  };
  if ("stages" in terms) {
    return {
      ...common,
      stages: terms.stages.map(({ rate, per = "1", minimum, unitsMax, ...rest }) => ({
        ...rest,
        rate: nano(BigInt(rate)),
        per: BigInt(per),
        minimum: nano(BigInt(minimum)),
        unitsMax: BigInt(unitsMax),
      })),
      marks: (terms.marks ?? []).map(toBillItem),
    };
  }
  const { rate, per, minimum, unitsMax, priceId, counts, extras = [] } = terms;
  return {
    ...common,
    priceId,
    counts,
    rate: nano(BigInt(rate)),
    per: BigInt(per),
    minimum: nano(BigInt(minimum)),
    unitsMax: BigInt(unitsMax),
    extras: extras.map(toBillItem),
  };
}

function toBillItem({ name, quantity, rate }: Stored<BillItem>): BillItem {
  return { name, quantity: BigInt(quantity), rate: nano(BigInt(rate)) };
}

type StoredOutput = Omit<TaskOutput, "expiresAt"> & { expiresAt: string };

function toOutput({ expiresAt, ...rest }: StoredOutput): TaskOutput {
  return { ...rest, expiresAt: new Date(expiresAt) };
}

type StoredStep = Omit<StepRecord, "output"> & { output: StoredOutput[] };

function toStep({ output, ...rest }: StoredStep): StepRecord {
  return { ...rest, output: output.map(toOutput) };
}
