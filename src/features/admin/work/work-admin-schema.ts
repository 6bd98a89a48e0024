import { type Static, Type } from "typebox";
import { presentMoney } from "../../../lib/money.ts";
import { type Task, taskStates, taskTypes } from "../../tasks/index.ts";
import { createPageSchema, listFields } from "../../usage/index.ts";
import {
  type AccountStorage,
  deliveryGroups,
  taskGroups,
  type WorkDelivery,
  type WorkTask,
} from "./work-admin-store.ts";

const time = Type.String({ format: "date-time" });
const maybeTime = Type.Union([time, Type.Null()]);
const maybeText = Type.Union([Type.String(), Type.Null()]);
const accountField = Type.Optional(
  Type.String({ pattern: "^acct_[0-9a-z]{1,64}$", description: "Only of this account." }),
);
const word = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 128, pattern: "^[!-~]+$", description }));

export const taskQuerySchema = Type.Object(
  {
    state: Type.Optional(
      Type.Enum([...taskGroups], {
        default: "open",
        description:
          "`open`: queued and processing, the oldest first. `failed`: also expired. Ended tasks: the newest first.",
      }),
    ),
    account_id: accountField,
    model: word("Only of this model."),
    provider: word("Only at this upstream, or waiting for it."),
    ...listFields("^task_[0-9a-z]{1,64}$"),
  },
  { additionalProperties: false },
);

const taskFields = {
  object: Type.Literal("task"),
  id: Type.String(),
  account_id: Type.String(),
  email: maybeText,
  parent_id: maybeText,
  type: Type.Enum([...taskTypes]),
  model: Type.String(),
  state: Type.Enum([...taskStates]),
  phase: Type.String({ description: "`ready`, `submitting`, `unknown`, `running` or `ended`." }),
  progress: Type.Integer(),
  provider: maybeText,
  error_code: maybeText,
  created_at: time,
  finished_at: maybeTime,
  deadline_at: time,
  due_at: Type.Union([time, Type.Null()], { description: "When a worker looks at it next." }),
};

export const taskListSchema = createPageSchema(
  Type.Object({ ...taskFields, is_waiting: Type.Boolean({ description: "Whether the upstream is full." }) }),
);

const target = Type.Object({ provider: Type.String(), model: maybeText, key: Type.Integer() });

export const workTaskSchema = Type.Object({
  ...taskFields,
  charge: Type.String(),
  request_id: Type.String(),
  hold_id: maybeText,
  polls: Type.Union([Type.Integer(), Type.Null()]),
  target: Type.Union([target, Type.Null()]),
  tried: Type.Array(target, { description: "Upstreams that refused or failed it." }),
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
  steps: Type.Array(
    Type.Object({
      name: Type.String(),
      state: Type.String(),
      progress: Type.Integer(),
      task_ids: Type.Array(Type.String()),
    }),
  ),
  files: Type.Array(Type.String()),
  course: Type.Array(Type.Object({ event: Type.String(), at: time }), { description: "What happened, oldest first." }),
});

export function presentListedTask(task: WorkTask): Static<typeof taskListSchema>["data"][number] {
  return {
    object: "task",
    ...{ id: task.id, account_id: task.accountId, email: task.email, parent_id: task.parentId },
    // Only the feature of tasks writes these.
    ...{ type: task.type as Task["type"], model: task.model, state: task.state as Task["state"], phase: task.phase },
    ...{ progress: task.progress, provider: task.provider, is_waiting: task.isWaiting, error_code: task.errorCode },
    created_at: task.createdAt.toISOString(),
    finished_at: task.finishedAt?.toISOString() ?? null,
    deadline_at: task.deadlineAt.toISOString(),
    due_at: task.dueAt?.toISOString() ?? null,
  };
}

type Beside = { email: string | null; lease: { dueAt: Date; polls: number } | null };

export function presentWorkTask(task: Task, { email, lease }: Beside): Static<typeof workTaskSchema> {
  const course = [
    { event: "created", at: task.createdAt },
    { event: "accepted by the upstream", at: task.submittedAt },
    { event: "started", at: task.startedAt },
    { event: "lost by the upstream", at: task.lostAt },
    { event: "cancellation requested", at: task.cancelRequestedAt },
    { event: "cancellation sent", at: task.cancelAskedAt },
    { event: task.state, at: task.finishedAt },
  ];
  return {
    object: "task",
    ...{ id: task.id, account_id: task.accountId, email, parent_id: task.parentId, type: task.type, model: task.model },
    ...{ state: task.state, phase: task.phase, progress: task.progress },
    provider: task.waitsFor ?? task.target?.providerId ?? null,
    error_code: task.error?.code ?? null,
    created_at: task.createdAt.toISOString(),
    finished_at: task.finishedAt?.toISOString() ?? null,
    deadline_at: task.deadlineAt.toISOString(),
    due_at: lease?.dueAt.toISOString() ?? null,
    charge: presentMoney(task.charge),
    ...{ request_id: task.requestId, hold_id: task.holdId, polls: lease?.polls ?? null },
    target: task.target === null ? null : presentTarget(task.target),
    tried: task.tried.map(presentTarget),
    error: task.error === null ? null : { code: task.error.code, message: task.error.message },
    steps: task.steps.map(({ name, state, progress, taskIds }) => ({
      ...{ name, state, progress, task_ids: Object.values<string>(taskIds) },
    })),
    files: task.output.map(({ fileId }) => fileId),
    course: course
      .flatMap(({ event, at }) => (at === null ? [] : [{ event, at: at.toISOString() }]))
      .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
  };
}

function presentTarget({ providerId, upstreamModel, keyNumber }: NonNullable<Task["target"]>) {
  return { provider: providerId, model: upstreamModel, key: keyNumber };
}

export const deliveryQuerySchema = Type.Object(
  {
    state: Type.Optional(
      Type.Enum([...deliveryGroups], {
        default: "failing",
        description: "`failing`: given up, or waiting for another attempt after a failed one.",
      }),
    ),
    account_id: accountField,
    event_id: Type.Optional(Type.String({ pattern: "^evt_[0-9a-z]{1,64}$", description: "Only of this event." })),
    ...listFields("^dlv_[0-9a-z]{1,64}$"),
  },
  { additionalProperties: false },
);

export const deliveryListSchema = createPageSchema(
  Type.Object({
    object: Type.Literal("delivery"),
    id: Type.String(),
    event_id: Type.String(),
    event_type: Type.String(),
    account_id: Type.String(),
    email: maybeText,
    webhook_endpoint_id: Type.Union([Type.String(), Type.Null()], { description: "`null`: a task's `callback_url`." }),
    url: Type.String(),
    state: Type.String(),
    attempts: Type.Integer(),
    last_status: Type.Union([Type.Integer(), Type.Null()]),
    last_error: maybeText,
    next_attempt_at: maybeTime,
    created_at: time,
  }),
);

export function presentWorkDelivery(delivery: WorkDelivery): Static<typeof deliveryListSchema>["data"][number] {
  return {
    object: "delivery",
    ...{ id: delivery.id, event_id: delivery.eventId, event_type: delivery.eventType },
    ...{ account_id: delivery.accountId, email: delivery.email, webhook_endpoint_id: delivery.endpointId },
    ...{ url: delivery.url, state: delivery.state, attempts: delivery.attempts },
    ...{ last_status: delivery.status, last_error: delivery.error },
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
  };
}

export const queueListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Object({
      provider: Type.String(),
      at_work: Type.Integer(),
      waiting: Type.Integer(),
      waiting_since: Type.Union([time, Type.Null()], { description: "When the longest waiting task was created." }),
      tasks_max: Type.Union([Type.Integer(), Type.Null()], { description: "`null`: no limit." }),
      tasks_per_minute: Type.Union([Type.Integer(), Type.Null()]),
      limits_per: Type.Enum(["provider", "key"]),
    }),
  ),
});

const stored = Type.Object({ files: Type.Integer(), bytes: Type.Integer() });

export const storageQuerySchema = Type.Object(listFields("^[0-9]{1,18}\\.acct_[0-9a-z]{1,64}$"), {
  additionalProperties: false,
});

export const storageSchema = Type.Object({
  ...createPageSchema(
    Type.Object({
      object: Type.Literal("account_storage"),
      id: Type.String({ description: "The account." }),
      email: Type.String(),
      uploads: stored,
      outputs: stored,
    }),
  ).properties,
  uploads: stored,
  expired_files: Type.Integer({ description: "Waiting for their deletion; counted up to 10,000." }),
  retention: Type.Object({
    file_days: Type.Integer(),
    task_days: Type.Integer({ description: "0: forever." }),
    request_days: Type.Integer(),
  }),
});

export function presentStorage({ accountId, email, uploads, outputs }: AccountStorage) {
  const present = ({ files, bytes }: { files: bigint; bytes: bigint }) => ({
    files: Number(files),
    bytes: Number(bytes),
  });
  return {
    object: "account_storage" as const,
    ...{ id: accountId as string, email, uploads: present(uploads), outputs: present(outputs) },
  };
}
