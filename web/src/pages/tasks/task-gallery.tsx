import { useNavigate } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Task } from "../../api/fetch-tasks.ts";
import { chooseNeighbour } from "./choose-neighbour.ts";
import { captionHeight, TaskTile } from "./task-tile.tsx";
import { usePlace } from "./use-place.ts";
import type { TaskSelection } from "./use-task-selection.ts";

const gap = 16;
const tileWidthMin = 230;
const columnsMin = 2;
const overscanRows = 2;

type TaskGalleryProps = {
  tasks: readonly Task[];
  currency: string | undefined;
  selection: TaskSelection;
  /** Called before the user reaches the end. */
  onNearEnd(): void;
};

/** Tasks as virtualized tiles. Arrow keys move, Enter opens, Space selects. */
export function TaskGallery({ tasks, currency, selection, onNearEnd }: TaskGalleryProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { width, top } = usePlace(frame);
  const columns = Math.max(columnsMin, Math.floor((width + gap) / (tileWidthMin + gap)));
  const tileWidth = Math.floor((width - gap * (columns - 1)) / columns);
  const tileHeight = Math.round(tileWidth * 0.75) + captionHeight;
  const rowCount = Math.ceil(tasks.length / columns);
  const rows = useWindowVirtualizer({
    count: rowCount,
    estimateSize: () => tileHeight + gap,
    overscan: overscanRows,
    scrollMargin: top,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: cached sizes belong to another width.
  useLayoutEffect(() => rows.measure(), [tileHeight]);
  const lastRow = rows.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (width > 0 && lastRow >= rowCount - 1 - overscanRows) onNearEnd();
  }, [width, lastRow, rowCount, onNearEnd]);
  const cursor = useCursor({ tasks, columns, frame, showRow: (row) => rows.scrollToIndex(row), selection });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table row is one record; a grid row is as many tiles as fit.
    <div
      ref={frame}
      role="grid"
      aria-label="Tasks"
      aria-multiselectable="true"
      aria-rowcount={rowCount}
      aria-colcount={columns}
      tabIndex={-1}
      onKeyDown={cursor.onKeyDown}
      className="relative outline-none"
      style={{ height: rows.getTotalSize() }}
    >
      {width > 0 &&
        rows.getVirtualItems().map(({ index: row, start }) => (
          // biome-ignore lint/a11y/useSemanticElements: as above.
          // biome-ignore lint/a11y/useFocusableInteractive: its cells are.
          <div
            key={row}
            role="row"
            aria-rowindex={row + 1}
            className="absolute inset-x-0 top-0 flex"
            style={{ transform: `translateY(${start - rows.options.scrollMargin}px)`, height: tileHeight, gap }}
          >
            {tasks.slice(row * columns, (row + 1) * columns).map((task, column) => {
              const index = row * columns + column;
              return (
                // biome-ignore lint/a11y/useSemanticElements: as above.
                <div
                  key={task.id}
                  role="gridcell"
                  aria-colindex={column + 1}
                  aria-selected={selection.has(task.id)}
                  data-index={index}
                  tabIndex={index === cursor.index ? 0 : -1}
                  onFocus={() => cursor.move(index)}
                  className="min-w-0 rounded-lg"
                  style={{ width: tileWidth }}
                >
                  <TaskTile
                    task={task}
                    currency={currency}
                    isSelected={selection.has(task.id)}
                    onSelect={() => selection.toggle(task.id)}
                  />
                </div>
              );
            })}
          </div>
        ))}
    </div>
  );
}

type CursorOptions = {
  tasks: readonly Task[];
  columns: number;
  frame: { readonly current: HTMLElement | null };
  showRow(row: number): void;
  selection: TaskSelection;
};

/** Roving tabindex: one tile is in the tab order. */
function useCursor({ tasks, columns, frame, showRow, selection }: CursorOptions) {
  const navigate = useNavigate();
  const [wanted, setWanted] = useState(0);
  const mustFocus = useRef(false);
  const index = Math.min(wanted, Math.max(0, tasks.length - 1));
  // After each render: an offscreen row is in the DOM only after scrolling to it.
  useEffect(() => {
    if (!mustFocus.current) return;
    const cell = frame.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    if (cell == null) return;
    mustFocus.current = false;
    cell.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const isAtCell = event.target instanceof HTMLElement && event.target.dataset.index !== undefined;
    const task = tasks[index];
    if (!isAtCell || task === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = chooseNeighbour(event.key, { index, columns, count: tasks.length });
    if (next !== null) {
      mustFocus.current = true;
      setWanted(next);
      showRow(Math.floor(next / columns));
    } else if (event.key === "Enter") void navigate({ to: "/console/tasks/$id", params: { id: task.id } });
    else if (event.key === " ") selection.toggle(task.id);
    else return;
    event.preventDefault();
  };
  return { index, move: setWanted, onKeyDown };
}
