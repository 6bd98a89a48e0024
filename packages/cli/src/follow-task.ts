import { setTimeout as wait } from "node:timers/promises";
import type { ApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import { CliError } from "./cli-error.ts";
import { readEvents } from "./read-server-events.ts";
import { isFinal, type TaskAnswer } from "./task-answer.ts";

type FollowOptions = { api: ApiClient; onChange(task: TaskAnswer): void; signal: AbortSignal };

type Sight = { task: TaskAnswer; eventId: string | null };

/** Consecutive failures before giving up. */
const failuresMax = 8;
const pauseMsMin = 500;
const pauseMsMax = 15_000;
const waitSeconds = 20;

/** Waits for the task to end: by event stream, else by polling. */
export async function followTask(id: string, options: FollowOptions): Promise<TaskAnswer> {
  const path = `/tasks/${encodeURIComponent(id)}`;
  let look = hear;
  let lastEventId: string | null = null;
  let failures = 0;
  while (failures < failuresMax) {
    try {
      for await (const { task, eventId } of look(path, lastEventId, options)) {
        failures = 0;
        lastEventId = eventId ?? lastEventId;
        options.onChange(task);
        if (isFinal(task)) return task;
      }
    } catch (error) {
      if (options.signal.aborted || isLastWord(error)) throw error;
      // The server, or a proxy, rejected the stream: fall back to polling.
      if (error instanceof ApiError) look = poll;
    }
    failures += 1;
    await wait(Math.min(pauseMsMax, pauseMsMin * 2 ** (failures - 1)), undefined, { signal: options.signal });
  }
  const remedy = `Later: sluice tasks wait ${id}`;
  throw new CliError("Lost the connection to the server. The task may continue there.", { remedy });
}

/** Permanent errors. */
function isLastWord(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 401 || error.status === 403 || error.code === "task_not_found";
}

async function* hear(path: string, lastEventId: string | null, { api, signal }: FollowOptions): AsyncGenerator<Sight> {
  const headers = lastEventId === null ? {} : { "last-event-id": lastEventId };
  const response = await api.open({ method: "GET", path: `${path}/events`, headers, signal });
  for await (const { name, id, data } of readEvents(response.body)) {
    // Any other event announces the end of the stream; the next request returns its reason as an error.
    if (!name.startsWith("task.")) return;
    yield { task: JSON.parse(data), eventId: id };
  }
}

async function* poll(path: string, _lastEventId: string | null, { api, signal }: FollowOptions): AsyncGenerator<Sight> {
  const headers = { prefer: `wait=${waitSeconds}` };
  const timeoutMs = (waitSeconds + 30) * 1000;
  yield { task: await api.ask<TaskAnswer>({ method: "GET", path, headers, timeoutMs, signal }), eventId: null };
}
