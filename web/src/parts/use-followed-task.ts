import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, ask } from "../api/console-api.ts";
import { readEventStream } from "../api/read-event-stream.ts";

const getTask = (taskId: string) => ask(api.GET("/tasks/{task_id}", { params: { path: { task_id: taskId } } }));

export type Task = Awaited<ReturnType<typeof getTask>>;
export type TaskOutput = Task["output"][number];

const pollMs = 2_000;

export function isOver({ status }: Pick<Task, "status">): boolean {
  return status !== "queued" && status !== "processing";
}

/**
 * A task as it stands, until it is over: told by its stream of events, and asked for again and again where the stream
 * breaks. `null` follows nothing.
 */
export function useFollowedTask(taskId: string | null) {
  const queries = useQueryClient();
  const [isStreaming, setStreaming] = useState(true);
  const query = useQuery({
    queryKey: ["task", taskId],
    queryFn: () => getTask(taskId ?? ""),
    enabled: taskId !== null,
    refetchInterval: ({ state }) => (isStreaming || state.data === undefined || isOver(state.data) ? false : pollMs),
  });
  const isFinal = query.data !== undefined && isOver(query.data);
  const isOpen = query.data !== undefined && !isFinal;
  useEffect(() => {
    if (taskId === null || !isOpen) return;
    const left = new AbortController();
    setStreaming(true);
    followTask(taskId, left.signal, (task) => queries.setQueryData(["task", taskId], task))
      // From then on the task is asked for, which tells whoever looks what is wrong.
      .catch(() => {})
      .finally(() => setStreaming(false));
    return () => left.abort();
  }, [taskId, isOpen, queries]);
  useEffect(() => {
    if (isFinal) void queries.invalidateQueries({ queryKey: ["balance"] });
  }, [isFinal, queries]);
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
