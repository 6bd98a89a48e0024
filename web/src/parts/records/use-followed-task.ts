import { useEffect } from "react";
import { isOver } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";

/** Polling interval without a change stream. */
const pollMs = 2_000;

/** A task, refreshed until it ends. `null` for none. */
export function useFollowedTask(taskId: string | null) {
  const answers = useQueryCache();
  const query = useTableQuery(queryTable.tasks.one(taskId ?? ""), {
    isEnabled: taskId !== null,
    decideRefreshMs: (task) => (task === undefined || isOver(task) ? null : pollMs),
  });
  const isFinal = query.data !== undefined && isOver(query.data);
  useEffect(() => {
    if (isFinal) void answers.refresh("balance");
  }, [isFinal, answers]);
  return { task: query.data, error: query.error, onRetry: () => void query.refetch() };
}
