import { useEffect, useState } from "react";
import { isOver, type Task } from "../../api/ask-tasks.ts";
import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { readEventStream } from "../../api/read-event-stream.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";

const pollMs = 2_000;

/**
 * A task as it stands, until it is over: told by its stream of events, and asked for again and again where the stream
 * breaks. `null` follows nothing.
 */
export function useFollowedTask(taskId: string | null) {
  const answers = useAnswerCache();
  const [isStreaming, setStreaming] = useState(true);
  const query = useTableQuery(queryTable.tasks.one(taskId ?? ""), {
    isEnabled: taskId !== null,
    decideRefreshMs: (task) => (isStreaming || task === undefined || isOver(task) ? null : pollMs),
  });
  const isFinal = query.data !== undefined && isOver(query.data);
  const isOpen = query.data !== undefined && !isFinal;
  useEffect(() => {
    if (taskId === null || !isOpen) return;
    const left = new AbortController();
    setStreaming(true);
    followTask(taskId, left.signal, (task) => answers.write(queryTable.tasks.one(taskId), task))
      // From then on the task is asked for, which tells whoever looks what is wrong.
      .catch(() => {})
      .finally(() => setStreaming(false));
    return () => left.abort();
  }, [taskId, isOpen, answers]);
  useEffect(() => {
    if (isFinal) void answers.refresh("balance");
  }, [isFinal, answers]);
  return { task: query.data, error: query.error, onRetry: () => void query.refetch() };
}

async function followTask(taskId: string, signal: AbortSignal, onTask: (task: Task) => void): Promise<void> {
  const call = api.GET("/tasks/{task_id}/events", {
    params: { path: { task_id: taskId } },
    parseAs: "stream",
    signal,
  });
  const stream = await ask(call);
  if (stream === null || stream === undefined) return;
  for await (const { event, data } of readEventStream(stream)) {
    // The reason for which the stream ends; the task is asked for from then on, which tells it too.
    if (event === "message") return;
    // Each event has the whole task, in the form in which the task's own address gives it.
    onTask(JSON.parse(data) as Task);
  }
}
