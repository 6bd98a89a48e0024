import { useEffect, useState } from "react";
import type { TaskCounts, TaskFilter } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { DayField } from "../../design/day-field.tsx";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { SelectField } from "../../design/select-field.tsx";
import { findDay } from "../../parts/format/calendar-days.ts";
import { formatCount } from "../../parts/format/format-money.ts";
import { nameType } from "../../parts/format/model-labels.ts";
import { describeTaskStatus, taskStatuses } from "../../parts/format/task-labels.ts";
import { sumCounts, type TaskSearch, taskTypes } from "./task-filter.ts";

type TaskFiltersProps = {
  search: TaskSearch;
  filter: TaskFilter;
  counts: TaskCounts | undefined;
  timeZone: string;
  onChange(part: TaskSearch): void;
};

export function TaskFilters({ search, filter, counts, timeZone, onChange }: TaskFiltersProps) {
  const { data: models } = useTableQuery(queryTable.models.list());
  const { byStatus, byType } = sumCounts(counts, filter);
  const ids = new Set([
    ...(filter.model === undefined ? [] : [filter.model]),
    ...(models?.data ?? []).filter(({ type }) => taskTypes.some((made) => made === type)).map(({ id }) => id),
  ]);
  const write = (count: number) => `${formatCount(count)}${counts?.has_more === true ? "+" : ""}`;
  const today = findDay(new Date(), timeZone);
  return (
    <search className="flex flex-col gap-4">
      <div className="-mx-1 flex gap-1.5 overflow-x-auto px-1 py-1">
        {[null, ...taskTypes].map((type) => (
          <button
            key={type ?? "all"}
            type="button"
            aria-pressed={(filter.type ?? null) === type}
            onClick={() => onChange({ type: type ?? "" })}
            className={joinClasses(
              "flex min-h-10 shrink-0 items-center gap-2 rounded-full border px-4 text-sm font-medium transition-colors",
              (filter.type ?? null) === type
                ? "border-accent bg-accent-soft text-accent"
                : "border-line bg-surface text-ink-soft hover:border-line-strong hover:text-ink",
            )}
          >
            {type === null ? "All" : nameType(type)}
            <span className="min-w-3 text-xs font-normal tabular-nums">
              {counts === undefined ? "" : write(byType(type))}
            </span>
          </button>
        ))}
      </div>
      <div className="flex flex-wrap items-start gap-3">
        <SearchField value={search.q ?? ""} onChange={(q) => onChange({ q })} />
        <SelectField
          label="Status"
          isCompact
          value={filter.status ?? ""}
          onChange={(status) => onChange({ status })}
          options={[
            { value: "", label: "Any status" },
            ...taskStatuses.map((status) => ({
              value: status,
              label: `${describeTaskStatus(status).name}${counts === undefined ? "" : ` (${write(byStatus(status))})`}`,
            })),
          ]}
        />
        <SelectField
          label="Model"
          isCompact
          value={filter.model ?? ""}
          onChange={(model) => onChange({ model })}
          options={[{ value: "", label: "Any model" }, ...[...ids].map((id) => ({ value: id, label: id }))]}
        />
        <div className="flex items-center gap-2 text-sm text-ink-soft">
          <DayField
            label="Created from"
            value={search.from ?? ""}
            max={today}
            onChange={(from) => onChange({ from })}
          />
          <span aria-hidden="true">–</span>
          <DayField label="Created until" value={search.to ?? ""} max={today} onChange={(to) => onChange({ to })} />
        </div>
      </div>
    </search>
  );
}

const typingMs = 300;

/** Debounced. */
function SearchField({ value, onChange }: { value: string; onChange(value: string): void }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onChange(typed.trim()), typingMs);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <div className="relative min-w-56 flex-1">
      <Icon name="search" className="pointer-events-none absolute top-3 left-3 size-4 text-ink-soft" />
      <input
        type="search"
        aria-label="Search tasks"
        placeholder="Prompt or task ID"
        value={typed}
        maxLength={200}
        onChange={(event) => setTyped(event.target.value)}
        className="min-h-10 w-full rounded-md border border-line-strong bg-surface pr-3 pl-9 text-sm placeholder:text-ink-soft"
      />
    </div>
  );
}
