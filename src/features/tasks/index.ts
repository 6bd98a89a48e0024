/**
 * Tasks: work that takes longer than a request.
 *
 * Promises: a submission that was answered is a task, with its price, its hold and whatever makes it run, all or
 * nothing; one key makes one task. A task ends once, and with its end come one settlement and one event; what it made
 * lies in our own storage by then. Progress never falls. A worker that dies is replaced within 15 seconds. What may have
 * reached an upstream is never sent there blindly again.
 */
export { cancelTask } from "./cancel-task.ts";
export { createTasks, type Tasks } from "./create-tasks.ts";
export { linkEvent } from "./present-task.ts";
export { getTask } from "./read-task.ts";
export { reconcileTasks } from "./reconcile-tasks.ts";
export { retryTask } from "./retry-task.ts";
export { type Task, taskStates, taskTypes } from "./task.ts";
export { type TaskPoint, taskPoints } from "./task-parts.ts";
export { listTasks } from "./task-store.ts";
