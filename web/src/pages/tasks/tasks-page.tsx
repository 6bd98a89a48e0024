import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useCallback } from "react";
import { isOver, type TaskFilter } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { joinClasses } from "../../design/join-classes.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { readFilter, type TaskSearch } from "./task-filter.ts";
import { TaskFilters } from "./task-filters.tsx";
import { useTaskSelection } from "./use-task-selection.ts";

const route = getRouteApi("/signed-in/console/console/tasks");
const refreshMs = 2_000;
const countsRefreshMs = 5_000;
const noFilter: TaskSearch = { status: "", type: "", model: "", q: "", from: "", to: "" };

const NoTasks = lazyPart(async () => (await import("./no-tasks.tsx")).NoTasks);
const SelectionBar = lazyPart(async () => (await import("./selection-bar.tsx")).SelectionBar);
const TaskGallery = lazyPart(async () => (await import("./task-gallery.tsx")).TaskGallery, <WaitingGallery />);
const TaskTable = lazyPart(async () => (await import("./task-table.tsx")).TaskTable, <WaitingGallery />);

/** The list refreshes while a task is open. */
export function TasksPage() {
  const [search, change] = useSearchControls<TaskSearch>(route.useSearch(), route.useNavigate());
  const { time_zone: timeZone } = useSession().account;
  const filter = readFilter(search, timeZone);
  const counts = useCounts(filter);
  const view = search.view === "table" ? "table" : "gallery";
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <ConsoleFrame
      title="Tasks"
      intro="Images, video, avatars, dramas and speech, created through the API or in the playground."
      actions={<ViewSwitch view={view} onChange={(next) => change({ view: next === "table" ? next : "" })} />}
    >
      <div className="flex flex-col gap-6">
        <TaskFilters {...{ search, filter, counts, timeZone }} onChange={change} />
        <TaskList
          key={JSON.stringify(filter)}
          {...{ filter, view, timeZone }}
          empty={<NoTasks isFiltered={isFiltered} onClear={() => change(noFilter)} />}
        />
      </div>
    </ConsoleFrame>
  );
}

/** Counts change while a task is open, or after an action. */
function useCounts({ status: _status, type: _type, ...filter }: TaskFilter) {
  const { data } = useTableQuery(queryTable.tasks.counts(filter), {
    decideRefreshMs: (counts) => (counts?.data.every(isOver) === false ? countsRefreshMs : null),
  });
  return data;
}

type TaskListProps = {
  filter: TaskFilter;
  view: "gallery" | "table";
  timeZone: string;
  empty: ReactNode;
};

function TaskList({ filter, view, timeZone, empty }: TaskListProps) {
  const selection = useTaskSelection();
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { rows, more, error, onRetry } = usePageQuery(queryTable.tasks.list(filter), {
    decideRefreshMs: (seen) => (seen.every(isOver) ? null : refreshMs),
  });
  const { hasMore, isBusy, onMore } = more;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the query's functions change on every render.
  const onNearEnd = useCallback(() => {
    if (hasMore && !isBusy) onMore();
  }, [hasMore, isBusy]);
  if (rows === undefined) {
    if (error === null) return <WaitingGallery />;
    return <LoadFailure title="Could not load this list." error={error} onRetry={onRetry} />;
  }
  if (rows.length === 0 && !hasMore) return empty;
  const shown = { tasks: rows, currency: site?.currency, selection, onNearEnd };
  return (
    <>
      {view === "table" ? <TaskTable {...shown} timeZone={timeZone} /> : <TaskGallery {...shown} />}
      <LoadMore {...more} />
      <SelectionBar tasks={rows.filter(({ id }) => selection.has(id))} onClear={selection.clear} />
    </>
  );
}

const views = [
  { id: "gallery", name: "Gallery" },
  { id: "table", name: "Table" },
] as const;

function ViewSwitch({ view, onChange }: { view: "gallery" | "table"; onChange(view: "gallery" | "table"): void }) {
  return (
    <fieldset aria-label="View" className="flex rounded-md bg-sunken p-1">
      {views.map(({ id, name }) => (
        <button
          key={id}
          type="button"
          aria-pressed={view === id}
          onClick={() => onChange(id)}
          className={joinClasses(
            "min-h-9 rounded-sm px-4 text-sm font-medium",
            view === id ? "bg-surface text-ink shadow-card" : "text-ink-soft hover:text-ink",
          )}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}

function WaitingGallery() {
  const places = Array.from({ length: 8 }, (_, index) => `place ${index}`);
  return (
    <div aria-busy="true" className="grid grid-cols-2 gap-4 md:grid-cols-3 xl:grid-cols-4">
      <p className="sr-only">Loading</p>
      {places.map((place) => (
        <div key={place} className="overflow-hidden rounded-lg border border-line bg-surface">
          <Skeleton className="aspect-4/3 rounded-none" />
          <div className="flex flex-col gap-3 px-3 py-3">
            <Skeleton className="h-4 w-4/5" />
            <Skeleton className="h-3 w-1/2" />
          </div>
        </div>
      ))}
    </div>
  );
}
