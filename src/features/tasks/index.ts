/**
 * Tasks: work that takes longer than a request.
 *
 * Promises: a submission that was answered is a task, with its price, its hold and whatever makes it run, all or
 * nothing; one key makes one task. A task ends once, and with its end come one settlement and one event; what it made
 * lies in our own storage by then. Progress never falls. Tasks of a worker that dies are claimed by another within 15 seconds. What may have
 * reached an upstream is never sent there blindly again.
 */

export { createTasks, type Tasks } from "./create-tasks.ts";
export { listFinished } from "./machine/decide-transition.ts";
export { explainFailure } from "./machine/explain-failure.ts";
export { billTask, countCharacters, quoteTask } from "./quote-task.ts";
export { cancelTask } from "./read/cancel-task.ts";
export { linkEvent } from "./read/present-task.ts";
export { getTask } from "./read/read-task.ts";
export { taskEventSchema, taskSchema } from "./read/task-schema.ts";
export { checkSpeech } from "./submit/check-generation.ts";
export type { PrepareTask } from "./submit/create-task.ts";
export { submissionAnswer, submissionAnswers, submissionErrors, submissionText } from "./submit/generation-routes.ts";
export { commonFields, type SpeechBody, speechRequestSchema } from "./submit/generation-schema.ts";
export { parsePrefer } from "./submit/prefer.ts";
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
} from "./task.ts";
export { findTask, listTasks } from "./task-store.ts";
export { forgetOldTasks, type TaskRetention } from "./work/forget-old-tasks.ts";
export { hasTasksDueBefore, readTaskLag } from "./work/lease-store.ts";
export type { Orchestrate, OrchestrationContext } from "./work/orchestrate-task.ts";
export { reconcileTasks } from "./work/reconcile-tasks.ts";
export { type TaskFailpoint, taskFailpoints } from "./work/task-failpoints.ts";
