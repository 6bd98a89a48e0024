import type { FileId } from "../../lib/ids.ts";
import { type Nano, presentMoney } from "../../lib/money.ts";
import { getErrorEntry } from "../../platform/errors/error-table.ts";
import { countPriceUnits, nothing, priceStage, priceTask } from "./quote-task.ts";
import { isFinal, type StepRecord, type Task, type TaskError, type TaskOutput } from "./task.ts";

/** Signs a temporary download link. */
export type SignLink = (fileId: FileId, now: Date) => { url: string };

/** A task as callers see it. Fields beyond the contract are omitted when empty. */
export function presentTask(
  task: Task,
  {
    signLink,
    now,
    queuePosition,
    isParentPaid = false,
  }: { signLink: SignLink; now: Date; queuePosition: number | null; isParentPaid?: boolean },
) {
  // A child's output belongs to the parent and is paid when the parent succeeds.
  const output = task.parentId === null || isParentPaid ? task.output : [];
  return {
    id: task.id,
    object: "generation.task" as const,
    type: task.type,
    model: task.model,
    ...describePrompt(task),
    ...(task.promptErasedAt === null ? {} : { prompt_erased_at: task.promptErasedAt.toISOString() }),
    status: task.state,
    progress: task.progress,
    output: output.map((item) => ({ ...describeOutput(item), url: signLink(item.fileId, now).url })),
    ...(task.type === "image" && output.length > 0
      ? { data: output.map((item) => ({ url: signLink(item.fileId, now).url, ...describeRevision(item) })) }
      : {}),
    usage: presentUsage(task),
    created: Math.floor(task.createdAt.getTime() / 1000),
    request_id: task.requestId,
    updated_at: task.updatedAt.toISOString(),
    ...(task.error === null ? {} : { error: presentTaskError(task.error) }),
    ...(task.warnings.length === 0 ? {} : { warnings: [...task.warnings] }),
    ...(task.metadata === null ? {} : { metadata: task.metadata }),
    ...(task.clientRequestId === null ? {} : { client_request_id: task.clientRequestId }),
    ...(queuePosition === null ? {} : { queue_position: queuePosition }),
    ...(task.startedAt === null ? {} : { started_at: task.startedAt.toISOString() }),
    ...(task.finishedAt === null ? {} : { finished_at: task.finishedAt.toISOString() }),
    ...(task.finishedAt === null ? { expires_at: task.deadlineAt.toISOString() } : {}),
    ...(task.parentId === null ? {} : { parent_id: task.parentId }),
    ...(task.steps.length === 0 ? {} : { steps: task.steps.map((step) => presentStep(task, step, { signLink, now })) }),
  };
}

/** In the format of OpenAI's API. */
export function describeRevision({ revisedPrompt }: TaskOutput): { revised_prompt?: string } {
  return revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt };
}

const promptCharactersMax = 500;

/**
 * The excerpt shown in lists; `GET /tasks/{id}/request` returns the whole request. Child tasks have no request of their
 * own.
 */
function describePrompt({ request, parentId }: Task): { prompt?: string } {
  if (parentId !== null) return {};
  const text =
    "prompt" in request ? request.prompt : "text" in request ? request.text : "title" in request ? request.title : "";
  // A character has at most two UTF-16 units, so slicing first is safe and avoids splitting a long text.
  const characters = [...text.slice(0, 2 * promptCharactersMax + 2)];
  if (characters.length === 0) return {};
  const isShort = characters.length <= promptCharactersMax;
  return { prompt: isShort ? text : `${characters.slice(0, promptCharactersMax - 1).join("")}…` };
}

function presentStep(task: Task, step: StepRecord, { signLink, now }: { signLink: SignLink; now: Date }) {
  return {
    name: step.name,
    status: step.state,
    progress: step.progress,
    output: (isStepPaid(task, step) ? step.output : []).map((item) => ({
      ...describeOutput(item),
      url: signLink(item.fileId, now).url,
    })),
    charge: presentMoney(priceStep(task, step)),
    task_ids: Object.values(step.taskIds),
  };
}

/** Whether a step is charged however the task ends; material of the video is paid only with the video. */
function isStepPaid({ terms, state }: Task, { name }: StepRecord): boolean {
  if (state === "succeeded") return true;
  return state !== "expired" && "stages" in terms && terms.stages.some(({ step }) => step === name);
}

/** A step's charge: nothing before it is done, and nothing if the task ended without a charge. */
function priceStep({ terms, state, charge }: Task, { name, output }: StepRecord): Nano {
  if (!("stages" in terms) || (isFinal(state) && charge === 0n)) return nothing;
  const stage = terms.stages.find(({ step }) => step === name);
  return stage === undefined ? nothing : priceStage(stage, output);
}

function describeOutput(item: TaskOutput) {
  return {
    type: item.type,
    file_id: item.fileId,
    content_type: item.contentType,
    bytes: item.bytes,
    sha256: item.sha256,
    ...(item.width === null ? {} : { width: item.width }),
    ...(item.height === null ? {} : { height: item.height }),
    ...(item.durationMs === null ? {} : { duration: item.durationMs / 1000 }),
    expires_at: item.expiresAt.toISOString(),
  };
}

function presentUsage(task: Task) {
  return {
    total_units: Number(countPriceUnits(task.terms, task.units)),
    ...(isFinal(task.state) ? { charge: presentMoney(task.charge) } : {}),
    estimated_charge: presentMoney(priceTask(task.terms)),
  };
}

function presentTaskError({ code, message, param, isRetryable }: TaskError) {
  return { code: getErrorEntry(code).wireCode ?? code, message, param, retryable: isRetryable };
}

/** The event data of a finished task. Links are added when the event is sent, because they expire. */
export function describeEvent(task: Task) {
  return {
    task_id: task.id,
    status: task.state,
    output: task.output.map(describeOutput),
    type: task.type,
    model: task.model,
    usage: presentUsage(task),
    ...(task.error === null ? {} : { error: presentTaskError(task.error) }),
    ...(task.metadata === null ? {} : { metadata: task.metadata }),
  };
}

/** Adds download links to an event's data. */
export function linkEvent<T extends { output?: readonly { file_id?: string }[] }>(
  data: T,
  signLink: SignLink,
  now: Date,
) {
  const output = (data.output ?? []).map((item) =>
    item.file_id === undefined ? item : { ...item, url: signLink(item.file_id as FileId, now).url },
  );
  return { ...data, output };
}
