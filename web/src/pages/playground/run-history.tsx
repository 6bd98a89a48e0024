import { useEffect } from "react";
import { isOver, type Task, type TaskOutput } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { describeTaskStatus } from "../../parts/format/task-labels.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { fileUrl, keepOutput, writeDragged } from "./kept-file.ts";

const refreshMs = 3_000;

type RunHistoryProps = { type: Task["type"]; shownId: string | null; onShow(taskId: string): void };

/** Recent tasks of a type, newest first. */
export function RunHistory({ type, shownId, onShow }: RunHistoryProps) {
  const query = queryTable.tasks.recent(type);
  const { data, error, refetch } = useTableQuery(query, {
    decideRefreshMs: (list) => (list === undefined || list.data.every(isOver) ? null : refreshMs),
  });
  const answers = useQueryCache();
  // A task just submitted is not in the list yet.
  const isMissing = shownId !== null && data?.data.every(({ id }) => id !== shownId) === true;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per task; a task too old for the list never appears.
  useEffect(() => {
    if (isMissing) void answers.refreshOne(query);
  }, [isMissing, shownId]);
  if (data === undefined) {
    return error === null ? (
      <Skeleton className="h-24" />
    ) : (
      <LoadFailure error={error} onRetry={() => void refetch()} />
    );
  }
  // Skip tasks whose output has expired.
  const runs = data.data.filter((task) => task.status !== "succeeded" || chooseThumbnail(task.output) !== undefined);
  if (runs.length === 0) return null;
  return (
    <section aria-label="History" className="flex min-w-0 flex-col gap-2">
      <h2 className="text-sm font-medium">History</h2>
      <ul className="-mx-1 flex gap-2 overflow-x-auto p-1">
        {runs.map((task) => (
          <li key={task.id} className="shrink-0">
            <Run task={task} isShown={task.id === shownId} onShow={() => onShow(task.id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Run({ task, isShown, onShow }: { task: Task; isShown: boolean; onShow(): void }) {
  const { time_zone: timeZone } = useSession().account;
  const { name: status } = describeTaskStatus(task.status);
  const moment = formatMoment(new Date(task.created * 1000).toISOString(), timeZone);
  const output = chooseThumbnail(task.output);
  return (
    <button
      type="button"
      aria-pressed={isShown}
      aria-label={`${task.model}, ${status.toLowerCase()}, ${moment}`}
      title={`${task.model} · ${moment}`}
      onClick={onShow}
      draggable={output !== undefined}
      onDragStart={(event) => output !== undefined && writeDragged(event.dataTransfer, keepOutput(output, task.model))}
      className={joinClasses(
        "relative flex size-20 flex-col items-center justify-center gap-1 overflow-hidden rounded-md border bg-sunken text-ink-soft",
        isShown ? "border-accent ring-2 ring-accent" : "border-line hover:border-line-strong",
      )}
    >
      <Thumbnail task={task} output={output} status={status} />
    </button>
  );
}

function Thumbnail({ task, output, status }: { task: Task; output: TaskOutput | undefined; status: string }) {
  if (output === undefined) return <span className="px-1 text-center text-xs">{status}</span>;
  const frame = "size-full object-cover";
  if (output.content_type.startsWith("image/")) {
    return <img src={fileUrl(output.file_id)} alt="" loading="lazy" className={frame} />;
  }
  if (output.content_type.startsWith("video/")) {
    return <video src={`${fileUrl(output.file_id)}#t=0.1`} muted preload="metadata" tabIndex={-1} className={frame} />;
  }
  return (
    <>
      <Icon name={output.content_type.startsWith("audio/") ? "playground" : "book"} className="size-5" />
      <span className="px-1 text-center text-xs">
        {output.duration === undefined ? task.type : `${Math.round(output.duration)} s`}
      </span>
    </>
  );
}

/** The best output to preview, if it still exists. */
function chooseThumbnail(output: readonly TaskOutput[]): TaskOutput | undefined {
  const kept = output.filter(({ expires_at: expiresAt }) => Date.parse(expiresAt) > Date.now());
  const kinds = ["image/", "video/", "audio/", ""];
  return kinds.map((kind) => kept.find(({ content_type: type }) => type.startsWith(kind))).find(Boolean);
}
