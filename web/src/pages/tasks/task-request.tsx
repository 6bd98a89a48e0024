import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../../api/console-api.ts";
import { CodeBlock } from "../../design/code-block.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { TaskSection } from "./task-section.tsx";

/** What was asked for, ready to be sent again. */
export function TaskRequest({ taskId }: { taskId: string }) {
  const request = useQuery({
    queryKey: ["task-request", taskId],
    queryFn: () => ask(api.GET("/tasks/{task_id}/request", { params: { path: { task_id: taskId } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <TaskSection title="Request">
      {request.error !== null && <LoadFailure error={request.error} onRetry={() => void request.refetch()} />}
      {request.error === null && request.data === undefined && <Skeleton className="h-40" />}
      {request.data !== undefined && (
        <>
          <p className="text-sm text-ink-soft">
            <code className="font-mono">POST {request.data.endpoint}</code>, with what was left out as it was decided.
          </p>
          <div className="max-h-96 overflow-y-auto rounded-md">
            <CodeBlock label="Body of the request" code={JSON.stringify(request.data.body, null, 2)} />
          </div>
        </>
      )}
    </TaskSection>
  );
}
