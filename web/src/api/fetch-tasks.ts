import { api, ask } from "./console-api.ts";

const latestMax = 5;
const pageMax = 60;
const deliveriesMax = 100;

export const getTask = (taskId: string) => ask(api.GET("/tasks/{task_id}", { params: { path: { task_id: taskId } } }));

export type Task = Awaited<ReturnType<typeof getTask>>;
export type TaskOutput = Task["output"][number];
export type TaskFilter = {
  status?: Task["status"];
  type?: Task["type"];
  model?: string;
  /** Words of the prompt, or a task id. */
  q?: string;
  /** ISO timestamps with offset. */
  from?: string;
  to?: string;
};

export function isOver({ status }: Pick<Task, "status">): boolean {
  return status !== "queued" && status !== "processing";
}

export const listLatestTasks = () => ask(api.GET("/tasks", { params: { query: { limit: latestMax } } }));

const recentMax = 24;

export const listRecentTasks = (type: Task["type"]) =>
  ask(api.GET("/tasks", { params: { query: { type, limit: recentMax } } }));

export const listTasks = (after: string | undefined, filter: TaskFilter) =>
  ask(
    api.GET("/tasks", { params: { query: { ...filter, limit: pageMax, ...(after === undefined ? {} : { after }) } } }),
  );

export const countTasks = (filter: Omit<TaskFilter, "status" | "type">) =>
  ask(api.GET("/tasks/counts", { params: { query: filter } }));

export type TaskCounts = Awaited<ReturnType<typeof countTasks>>;

export const cancelTask = (taskId: string) =>
  ask(api.POST("/tasks/{task_id}/cancel", { params: { path: { task_id: taskId } }, body: {} }));

export const listTaskParts = (after: string | undefined, taskId: string) =>
  ask(api.GET("/tasks", { params: { query: { parent_id: taskId, ...(after === undefined ? {} : { after }) } } }));

export const getTaskRequest = (taskId: string) =>
  ask(api.GET("/tasks/{task_id}/request", { params: { path: { task_id: taskId } } }));

/** The task's final event with its deliveries; `null` once the event has expired. */
export async function findTaskEvent(taskId: string) {
  const { data: events } = await ask(api.GET("/events", { params: { query: { task_id: taskId, limit: 1 } } }));
  const [event] = events;
  if (event === undefined) return null;
  const deliveries = await ask(
    api.GET("/events/{id}/deliveries", { params: { path: { id: event.id }, query: { limit: deliveriesMax } } }),
  );
  return { event, deliveries: deliveries.data };
}

export type TaskEvent = NonNullable<Awaited<ReturnType<typeof findTaskEvent>>>;

export const readDocument = (fileId: string) =>
  ask(api.GET("/files/{file_id}/content", { params: { path: { file_id: fileId } }, parseAs: "text" }));
