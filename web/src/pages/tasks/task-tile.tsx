import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { isOver, type Task } from "../../api/fetch-tasks.ts";
import { Badge } from "../../design/badge.tsx";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { formatMoney, formatRoughMoney } from "../../parts/format/format-money.ts";
import { formatSince } from "../../parts/format/format-time.ts";
import { nameType } from "../../parts/format/model-labels.ts";
import { MoneyCell } from "../../parts/format/money-cell.tsx";
import { describeTaskStatus } from "../../parts/format/task-labels.ts";
import { nameDownload } from "../../parts/records/name-download.ts";
import { linkDownload } from "../../parts/records/output-links.ts";
import { chooseCover } from "./choose-cover.ts";
import { TaskCover } from "./task-cover.tsx";

export const captionHeight = 84;

type TaskTileProps = {
  task: Task;
  currency: string | undefined;
  isSelected: boolean;
  onSelect(): void;
};

const onPictureClasses =
  "flex size-9 items-center justify-center rounded-md bg-surface/90 text-ink shadow-card backdrop-blur-sm hover:bg-surface";

/** A task's output and prompt. Actions show on hover or focus. */
export function TaskTile({ task, currency, isSelected, onSelect }: TaskTileProps) {
  const [isPointedAt, setPointedAt] = useState(false);
  const name = task.prompt ?? `${nameType(task.type)} task`;
  const cover = chooseCover(task, new Date());
  const shown = "output" in cover ? cover.output : null;
  const revealed =
    "opacity-0 group-hover/tile:opacity-100 group-focus-within/tile:opacity-100 pointer-coarse:opacity-100";
  return (
    <div
      className={joinClasses(
        "group/tile flex h-full flex-col overflow-hidden rounded-lg border bg-surface transition-colors",
        isSelected ? "border-accent ring-2 ring-accent" : "border-line hover:border-line-strong",
      )}
      onPointerEnter={({ pointerType }) => pointerType === "mouse" && setPointedAt(allowsMotion())}
      onPointerLeave={() => setPointedAt(false)}
    >
      <div className="relative min-h-0 flex-1 overflow-hidden bg-sunken">
        <TaskCover task={task} isPlaying={isPointedAt} />
        {cover.kind !== "audio" && (
          <Link
            to="/console/tasks/$id"
            params={{ id: task.id }}
            tabIndex={-1}
            aria-label={`Open ${name}`}
            className="absolute inset-0"
          />
        )}
        <label className={joinClasses(onPictureClasses, "absolute top-2 left-2", isSelected ? "" : revealed)}>
          <input
            type="checkbox"
            tabIndex={-1}
            checked={isSelected}
            onChange={onSelect}
            aria-label={`Select ${name}`}
            className="size-4 accent-accent"
          />
        </label>
        <div className={joinClasses("absolute top-2 right-2 flex gap-1.5", revealed)}>
          {shown !== null && (
            <a
              href={linkDownload(shown, nameDownload(task, task.output.indexOf(shown)))}
              download
              tabIndex={-1}
              title="Download"
              aria-label={`Download ${name}`}
              className={onPictureClasses}
            >
              <Icon name="download" />
            </a>
          )}
          <Link
            to="/console/playground"
            search={{ model: task.model, task: task.id }}
            tabIndex={-1}
            title="Run again"
            aria-label={`Run again: ${name}`}
            className={onPictureClasses}
          >
            <Icon name="refresh" />
          </Link>
        </div>
        <Corner task={task} seconds={shown?.duration} />
      </div>
      <Caption task={task} currency={currency} />
    </div>
  );
}

/** Duration or number of images. */
function Corner({ task, seconds }: { task: Task; seconds: number | undefined }) {
  const images = task.output.filter(({ type }) => type === "image").length;
  const text =
    seconds !== undefined ? writeLength(seconds) : task.type === "image" && images > 1 ? `${images} images` : null;
  if (text === null) return null;
  return (
    <span className="pointer-events-none absolute right-2 bottom-2 rounded-sm bg-black/70 px-1.5 py-0.5 text-xs font-medium text-white tabular-nums">
      {text}
    </span>
  );
}

function Caption({ task, currency }: { task: Task; currency: string | undefined }) {
  const { kind, name } = describeTaskStatus(task.status);
  const created = new Date(task.created * 1000).toISOString();
  return (
    <div style={{ height: captionHeight }} className="flex shrink-0 flex-col justify-between gap-1 px-3 py-2.5">
      <Link
        to="/console/tasks/$id"
        params={{ id: task.id }}
        tabIndex={-1}
        className="line-clamp-2 text-sm leading-5 font-medium hover:text-accent"
      >
        {task.prompt ?? `${nameType(task.type)} task`}
      </Link>
      <div className="flex items-center gap-2 text-xs text-ink-soft">
        <span className="min-w-0 truncate">{task.model}</span>
        <span className="ml-auto shrink-0 tabular-nums" title={`Created ${formatSince(created, new Date())}`}>
          {isOver(task) ? (
            currency !== undefined &&
            task.usage.charge !== undefined && (
              <MoneyCell
                figure={formatRoughMoney(task.usage.charge, currency)}
                exact={formatMoney(task.usage.charge, currency)}
              />
            )
          ) : (
            <Badge kind={kind}>{name}</Badge>
          )}
        </span>
      </div>
    </div>
  );
}

export function writeLength(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${Math.max(1, whole)} s` : `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function allowsMotion(): boolean {
  return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
