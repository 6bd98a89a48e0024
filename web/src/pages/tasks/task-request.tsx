import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CodeBlock } from "../../design/code-block.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { TaskSection } from "./task-section.tsx";

/** What was asked for, ready to be sent again. */
export function TaskRequest({ taskId }: { taskId: string }) {
  const request = useTableQuery(queryTable.tasks.request(taskId));
  return (
    <TaskSection title="Request">
      {request.error !== null && <LoadFailure error={request.error} onRetry={() => void request.refetch()} />}
      {request.error === null && request.data === undefined && <Skeleton className="h-40" />}
      {request.data !== undefined && (
        <>
          <p className="text-sm text-ink-soft">
            <code className="font-mono">POST {request.data.endpoint}</code>, with defaults filled in.
          </p>
          <div className="max-h-96 overflow-y-auto rounded-md">
            <CodeBlock label="Body of the request" code={JSON.stringify(request.data.body, null, 2)} />
          </div>
        </>
      )}
    </TaskSection>
  );
}
