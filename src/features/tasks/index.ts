/**
 * Tasks: long-running work.
 *
 * Promises: an acknowledged submission is a task with its price, hold and lease, all or nothing; one idempotency key
 * creates one task. A task ends once, with one settlement and one event, and its outputs are in our storage by then.
 * Progress never decreases. Another worker claims a dead worker's tasks within 15 seconds. A request that may have
 * reached an upstream is never resubmitted blindly.
 */

export { createTasks, type Tasks } from "./create-tasks.ts";
export { hasTasksDueBefore, readTaskLag } from "./lease-store.ts";
export { listFinished } from "./machine/decide-transition.ts";
export { linkEvent } from "./present-task.ts";
export { billTask, countCharacters, quoteTask } from "./quote-task.ts";
export { cancelTask } from "./read/cancel-task.ts";
export { parsePrefer } from "./read/prefer.ts";
export { getTask } from "./read/read-task.ts";
export { taskEventSchema, taskSchema } from "./read/task-schema.ts";
export { checkSpeech, checkSpeechTask } from "./submit/check-generation.ts";
export type { FindModel, PrepareTask } from "./submit/create-task.ts";
export { submissionAnswer, submissionAnswers, submissionErrors, submissionText } from "./submit/generation-routes.ts";
export { commonFields, type SpeechBody, speechRequestSchema } from "./submit/generation-schema.ts";
export { retryTask } from "./submit/retry-task.ts";
export {
  type CompositeTask,
  isFinal,
  type NewChild,
  type StagedTerms,
  type StepRecord,
  type Task,
  type TaskError,
  type TaskOutput,
  type TaskWarning,
  taskStates,
  taskTypes,
  type UnitTerms,
} from "./task.ts";
export { type TaskFailpoint, taskFailpoints } from "./task-failpoints.ts";
export { countProviderTasks, type ProviderTasks } from "./task-limit-store.ts";
export { findTask, listTasks } from "./task-store.ts";
export { forgetOldTasks, type TaskRetention } from "./work/forget-old-tasks.ts";
export type { Orchestrate, OrchestrationContext } from "./work/orchestrate-task.ts";
export { reconcileTasks } from "./work/reconcile-tasks.ts";
