import type { Task } from "../../api/ask-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CodeBlock } from "../../design/code-block.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { TaskSection } from "./task-section.tsx";

/** The request, while it is stored. */
export function TaskRequest({ task }: { task: Task }) {
  const { time_zone: timeZone } = useSession().account;
  return (
    <TaskSection title="Request">
      {task.prompt_erased_at === undefined ? (
        <KeptRequest taskId={task.id} />
      ) : (
        <p className="text-sm text-ink-soft">
          No longer stored. It was erased on {formatMoment(task.prompt_erased_at, timeZone)}.
        </p>
      )}
    </TaskSection>
  );
}

function KeptRequest({ taskId }: { taskId: string }) {
  const request = useTableQuery(queryTable.tasks.request(taskId));
  if (request.error !== null) return <LoadFailure error={request.error} onRetry={() => void request.refetch()} />;
  if (request.data === undefined) return <Skeleton className="h-40" />;
  return (
    <>
      <p className="text-sm text-ink-soft">
        <code className="font-mono">POST {request.data.endpoint}</code>, with defaults filled in.
      </p>
      <div className="max-h-96 overflow-y-auto rounded-md">
        <CodeBlock label="Body of the request" code={JSON.stringify(request.data.body, null, 2)} />
      </div>
    </>
  );
}
