import { getRouteApi, Link } from "@tanstack/react-router";
import { isOver, type Task, type TaskFilter } from "../../api/ask-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { nameType } from "../../parts/format/model-words.ts";
import { describeTaskStatus, taskStatuses } from "../../parts/format/task-words.ts";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { TaskStatus } from "./task-status.tsx";

const route = getRouteApi("/signed-in/console/console/tasks");
const refreshMs = 2_000;
const taskTypes = ["image", "video", "avatar", "drama", "speech"] as const satisfies readonly Task["type"][];

/** What the address asks for, as far as there is such a thing. */
function readFilter({ status, type, model }: { status?: string; type?: string; model?: string }): TaskFilter {
  const knownStatus = taskStatuses.find((each) => each === status);
  const knownType = taskTypes.find((each) => each === type);
  return {
    ...(knownStatus === undefined ? {} : { status: knownStatus }),
    ...(knownType === undefined ? {} : { type: knownType }),
    ...(model === undefined ? {} : { model }),
  };
}

/** All tasks, newest first. The list refreshes while a task is open. */
export function TasksPage() {
  const [search, change] = useSearchControls(route.useSearch(), route.useNavigate());
  const filter = readFilter(search);
  const { time_zone: timeZone } = useSession().account;
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { rows, more, ...tasks } = usePageQuery(queryTable.tasks.list(filter), {
    decideRefreshMs: (seen) => (seen.every(isOver) ? null : refreshMs),
  });
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <ConsoleFrame
      title="Tasks"
      intro="Images, video, avatars, dramas and speech, created through the API or in the playground."
    >
      <div className="flex flex-col gap-4">
        <Filters filter={filter} onChange={change} />
        <DataTable
          label="Tasks"
          columns={listColumns(timeZone, site?.currency)}
          rows={rows}
          {...tasks}
          keyOf={({ id }) => id}
          expectedRows={8}
          empty={<NoTasks isFiltered={isFiltered} onClear={() => change({ status: "", type: "", model: "" })} />}
        />
        <LoadMore {...more} />
      </div>
    </ConsoleFrame>
  );
}

function Filters({
  filter,
  onChange,
}: {
  filter: TaskFilter;
  onChange(part: { [name in keyof TaskFilter]: string }): void;
}) {
  const { data: models } = useTableQuery(queryTable.models.list());
  const ids = new Set([
    ...(filter.model === undefined ? [] : [filter.model]),
    ...(models?.data ?? []).filter(({ type }) => taskTypes.some((made) => made === type)).map(({ id }) => id),
  ]);
  return (
    <search className="flex flex-wrap gap-3">
      <SelectField
        label="Status"
        isCompact
        value={filter.status ?? ""}
        onChange={(status) => onChange({ status })}
        options={[
          { value: "", label: "Any status" },
          ...taskStatuses.map((status) => ({ value: status, label: describeTaskStatus(status).name })),
        ]}
      />
      <SelectField
        label="Type"
        isCompact
        value={filter.type ?? ""}
        onChange={(type) => onChange({ type })}
        options={[{ value: "", label: "Any type" }, ...taskTypes.map((value) => ({ value, label: nameType(value) }))]}
      />
      <SelectField
        label="Model"
        isCompact
        value={filter.model ?? ""}
        onChange={(model) => onChange({ model })}
        options={[{ value: "", label: "Any model" }, ...[...ids].map((id) => ({ value: id, label: id }))]}
      />
    </search>
  );
}

function listColumns(timeZone: string, currency: string | undefined): Column<Task>[] {
  const created = (task: Task): string => formatMoment(new Date(task.created * 1000).toISOString(), timeZone);
  return [
    {
      name: "Task",
      hasNames: true,
      cell: (task) => (
        <div className="flex min-w-32 flex-col gap-0.5">
          <Link
            to="/console/tasks/$id"
            params={{ id: task.id }}
            className="font-medium hover:text-accent hover:underline"
          >
            {nameType(task.type)} <span className="font-normal text-ink-soft max-sm:block">{task.model}</span>
          </Link>
          <code className="font-mono text-xs text-ink-soft max-sm:hidden">{task.id}</code>
          <span className="text-xs text-ink-soft sm:hidden">{created(task)}</span>
        </div>
      ),
    },
    { name: "Status", cell: (task) => <TaskStatus task={task} /> },
    {
      name: "Charge",
      align: "right",
      cell: ({ usage: { charge } }) =>
        charge === undefined || currency === undefined ? (
          <span className="text-ink-soft">–</span>
        ) : (
          formatMoney(charge, currency)
        ),
    },
    {
      name: "Created",
      align: "right",
      isSecondary: true,
      cell: (task) => <span className="text-ink-soft">{created(task)}</span>,
    },
  ];
}

function NoTasks({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }) {
  if (isFiltered) {
    return (
      <EmptyState title="No tasks match." action={<Button onClick={onClear}>Show all tasks</Button>}>
        Choose another status, type or model.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="No tasks yet"
      action={
        <Link to="/console/playground" className={buttonClasses("primary")}>
          Try it in the playground
        </Link>
      }
    >
      Every image, video, avatar, drama and speech request is a task. It appears here with its output and cost.
    </EmptyState>
  );
}
