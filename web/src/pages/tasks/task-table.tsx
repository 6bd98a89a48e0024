import { Link } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import type { Task } from "../../api/fetch-tasks.ts";
import { joinClasses } from "../../design/join-classes.ts";
import { countDecimals } from "../../parts/format/align-figures.ts";
import { formatMoney, formatRoughMoney } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { nameType } from "../../parts/format/model-labels.ts";
import { MoneyCell } from "../../parts/format/money-cell.tsx";
import { chooseCover } from "./choose-cover.ts";
import { TaskCover } from "./task-cover.tsx";
import { TaskStatus } from "./task-status.tsx";
import { writeLength } from "./task-tile.tsx";
import { usePlace } from "./use-place.ts";
import type { TaskSelection } from "./use-task-selection.ts";

const rowHeight = 73;
const overscanRows = 8;

type TaskTableProps = {
  tasks: readonly Task[];
  currency: string | undefined;
  timeZone: string;
  selection: TaskSelection;
  onNearEnd(): void;
};

const columns: readonly { name: string; classes: string; isNameHidden?: true }[] = [
  { name: "Select", classes: "w-9", isNameHidden: true },
  { name: "Task", classes: "" },
  { name: "Status", classes: "w-26 sm:w-44" },
  { name: "Length", classes: "w-20 text-right max-lg:hidden" },
  { name: "Charge", classes: "w-24 text-right max-sm:hidden" },
  { name: "Created", classes: "w-48 text-right whitespace-nowrap max-md:hidden" },
];

/** Tasks as virtualized rows. */
export function TaskTable({ tasks, currency, timeZone, selection, onNearEnd }: TaskTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { width, top } = usePlace(body);
  const rows = useWindowVirtualizer({
    count: tasks.length,
    estimateSize: () => rowHeight,
    overscan: overscanRows,
    scrollMargin: top,
  });
  const decimals = useMemo(() => countDecimals(listCharges(tasks, currency)), [tasks, currency]);
  const inSight = rows.getVirtualItems();
  const last = inSight.at(-1);
  const lastIndex = last?.index ?? 0;
  useEffect(() => {
    if (width > 0 && lastIndex >= tasks.length - overscanRows) onNearEnd();
  }, [width, lastIndex, tasks.length, onNearEnd]);
  return (
    <table aria-label="Tasks" aria-rowcount={tasks.length + 1} className="w-full table-fixed border-collapse text-sm">
      <thead>
        <tr className="text-left text-xs text-ink-soft">
          {columns.map(({ name, classes, isNameHidden }) => (
            <th
              key={name}
              scope="col"
              className={joinClasses(
                "sticky top-0 z-10 border-b border-line bg-canvas px-2 py-2.5 font-medium first:pl-1",
                classes,
              )}
            >
              <span className={isNameHidden ? "sr-only" : ""}>{name}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        <Gap height={(inSight[0]?.start ?? top) - top} />
        {inSight.map(({ index }) => {
          const task = tasks[index];
          return task === undefined ? null : (
            <TaskRow key={task.id} index={index} {...{ task, currency, timeZone, selection, decimals }} />
          );
        })}
        <Gap height={last === undefined ? 0 : rows.getTotalSize() + top - last.end} />
      </tbody>
    </table>
  );
}

function listCharges(tasks: readonly Task[], currency: string | undefined): string[] {
  return tasks.flatMap((task) => writeCharge(task, currency)?.rough ?? []);
}

function writeCharge({ usage: { charge } }: Task, currency: string | undefined) {
  if (charge === undefined || currency === undefined) return undefined;
  return { rough: formatRoughMoney(charge, currency), exact: formatMoney(charge, currency) };
}

/** Spacer for offscreen rows. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it is focusable.
    <tr aria-hidden="true">
      <td style={{ height }} />
    </tr>
  );
}

type TaskRowProps = Omit<TaskTableProps, "tasks" | "onNearEnd"> & { task: Task; index: number; decimals: number };

function TaskRow({ task, index, currency, timeZone, selection, decimals }: TaskRowProps) {
  const created = formatMoment(new Date(task.created * 1000).toISOString(), timeZone);
  const cover = chooseCover(task, new Date());
  const seconds = "output" in cover ? cover.output.duration : undefined;
  const charge = writeCharge(task, currency);
  const isSelected = selection.has(task.id);
  return (
    <tr
      aria-rowindex={index + 2}
      style={{ height: rowHeight }}
      className={joinClasses("border-b border-line", isSelected ? "bg-accent-soft" : "hover:bg-sunken/60")}
    >
      <Cell index={0}>
        <input
          type="checkbox"
          checked={isSelected}
          onChange={() => selection.toggle(task.id)}
          aria-label={`Select ${task.prompt ?? task.id}`}
          className="size-4 accent-accent"
        />
      </Cell>
      <Cell index={1}>
        <div className="flex min-w-0 items-center gap-3">
          <span className="relative h-12 w-16 shrink-0 overflow-hidden rounded-md bg-sunken max-sm:hidden">
            <TaskCover task={task} isSmall />
          </span>
          <div className="flex min-w-0 flex-col">
            <Link
              to="/console/tasks/$id"
              params={{ id: task.id }}
              className="truncate font-medium hover:text-accent hover:underline"
            >
              {task.prompt ?? `${nameType(task.type)} task`}
            </Link>
            <span className="truncate text-xs text-ink-soft">
              {nameType(task.type)} · {task.model}
              <code className="ml-2 font-mono max-lg:hidden">{task.id}</code>
            </span>
            <span className="truncate text-xs text-ink-soft md:hidden">{created}</span>
          </div>
        </div>
      </Cell>
      <Cell index={2}>
        <TaskStatus task={task} />
        <span className="mt-1 block text-xs text-ink-soft sm:hidden">{charge?.rough ?? "–"}</span>
      </Cell>
      <Cell index={3}>{seconds === undefined ? "–" : writeLength(seconds)}</Cell>
      <Cell index={4}>
        {charge === undefined ? "–" : <MoneyCell figure={charge.rough} exact={charge.exact} decimals={decimals} />}
      </Cell>
      <Cell index={5}>{created}</Cell>
    </tr>
  );
}

function Cell({ index, children }: { index: number; children: ReactNode }) {
  const isQuiet = index === 3 || index === 5;
  return (
    <td
      className={joinClasses(
        "px-2 py-2 align-middle tabular-nums first:pl-1",
        columns[index]?.classes,
        isQuiet && "text-ink-soft",
      )}
    >
      {children}
    </td>
  );
}
