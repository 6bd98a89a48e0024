import { isOver, type Task } from "../../api/ask-tasks.ts";
import { TaskDeliveries } from "./task-deliveries.tsx";
import { TaskParts } from "./task-parts.tsx";
import { TaskRequest } from "./task-request.tsx";
import { TaskSteps } from "./task-steps.tsx";

/** Steps, request and webhook deliveries. */
export function TaskDetails({ task }: { task: Task }) {
  return (
    <>
      {task.steps !== undefined && <TaskSteps task={task} steps={task.steps} />}
      {task.steps !== undefined && <TaskParts task={task} />}
      {task.parent_id === undefined && <TaskRequest task={task} />}
      {task.parent_id === undefined && isOver(task) && <TaskDeliveries taskId={task.id} />}
    </>
  );
}
