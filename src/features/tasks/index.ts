/**
 * Tasks: work that takes longer than a request.
 *
 * Promises: a submission that was answered is a task, with its price, its hold and whatever makes it run, all or
 * nothing; one key makes one task. A task ends once, and with its end come one settlement and one event; what it made
 * lies in our own storage by then. Progress never falls. Tasks of a worker that dies are claimed by another within 15 seconds. What may have
 * reached an upstream is never sent there blindly again.
 */
export { cancelTask } from "./cancel-task.ts";
export type { PrepareTask } from "./create-task.ts";
export { createTasks, type Tasks } from "./create-tasks.ts";
export { listFinished } from "./decide-transition.ts";
export { submissionAnswers, submissionErrors, submissionText } from "./generation-routes.ts";
export { commonFields } from "./generation-schema.ts";
export { hasTasksDueBefore } from "./lease-store.ts";
export type { Orchestrate, OrchestrationContext } from "./orchestrate-task.ts";
export { getPrice } from "./prepare-media.ts";
export { linkEvent } from "./present-task.ts";
export { countCharacters } from "./quote-task.ts";
export { getTask } from "./read-task.ts";
export { reconcileTasks } from "./reconcile-tasks.ts";
export { retryTask } from "./retry-task.ts";
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
export { type TaskFailpoint, taskFailpoints } from "./task-failpoints.ts";
export { taskEventSchema, taskSchema } from "./task-schema.ts";
export { findTask, listTasks } from "./task-store.ts";
