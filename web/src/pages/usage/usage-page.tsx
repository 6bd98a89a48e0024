import { getRouteApi, Link } from "@tanstack/react-router";
import type { Usage } from "../../api/ask-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { findDay } from "../../parts/format/calendar-days.ts";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { UsageFilters } from "./usage-filters.tsx";
import { UsageTotals } from "./usage-totals.tsx";
import { readUsageView, type UsageSearch, type UsageView } from "./usage-view.ts";

const route = getRouteApi("/signed-in/console/console/usage");

const UsageReport = lazyPart(async () => (await import("./usage-report.tsx")).UsageReport, <Waiting />);

/** Every number links to its charges. */
export function UsagePage() {
  const [search, change] = useSearchControls<UsageSearch>(route.useSearch(), route.useNavigate());
  const { time_zone: timeZone } = useSession().account;
  const now = new Date();
  const view = readUsageView(search, { now, timeZone });
  const question = { ...view.filter, group_by: `${view.cut},${view.by}` };
  const usage = useTableQuery(queryTable.usage.report(question), { isEnabled: view.problem === null });
  const keyNames = useTableQuery(queryTable.keys.names());
  // Another period or filter has other bars.
  const filter = (part: UsageSearch) => change({ ...part, bar: "", part: "" });
  return (
    <ConsoleFrame
      title="Usage"
      intro={
        <>
          Days begin and end in <span className="font-medium text-ink">{import.meta.env.SSR ? "…" : timeZone}</span>.{" "}
          <Link to="/console/settings" className={linkClasses}>
            Change the time zone
          </Link>
        </>
      }
      actions={view.problem === null ? <DownloadLink question={question} /> : undefined}
    >
      <UsageFilters view={view} today={findDay(now, timeZone)} onChange={filter} />
      {usage.error !== null && <LoadFailure error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.error === null && (
        <>
          <UsageTotals usage={usage.data} />
          {usage.data === undefined || keyNames.isPending ? (
            <Waiting />
          ) : (
            <Report usage={usage.data} view={view} search={search} names={keyNames.data} onChange={change} />
          )}
        </>
      )}
    </ConsoleFrame>
  );
}

function DownloadLink({ question }: { question: Record<string, string> }) {
  const query = new URLSearchParams({ ...question, format: "csv" });
  return (
    <a href={`/console/api/usage?${query}`} download="usage.csv" className={buttonClasses("plain")}>
      <Icon name="download" />
      Download CSV
    </a>
  );
}

type ReportProps = {
  usage: Usage;
  view: UsageView;
  search: UsageSearch;
  names: ReadonlyMap<string, string> | undefined;
  onChange(part: UsageSearch): void;
};

function Report({ usage, view, search, names, onChange }: ReportProps) {
  if (usage.data.length === 0)
    return <NothingUsed isFiltered={view.filter.model !== undefined || view.filter.key_id !== undefined} />;
  return (
    <UsageReport
      usage={usage}
      view={view}
      nameOf={(id) => (view.by === "key" ? (names?.get(id) ?? id) : id)}
      open={{ bar: search.bar ?? null, part: search.part ?? null }}
      onOpen={({ bar, part }) => onChange({ bar: bar ?? "", part: part ?? "" })}
    />
  );
}

function Waiting() {
  return (
    <div aria-busy="true" className="flex flex-col gap-8">
      <p className="sr-only">Loading</p>
      <Skeleton className="h-60" />
      <Skeleton className="h-48" />
    </div>
  );
}

function NothingUsed({ isFiltered }: { isFiltered: boolean }) {
  return (
    <EmptyState
      title="No charges in this period."
      action={
        isFiltered ? undefined : (
          <Link to="/console/playground" className={buttonClasses("primary")}>
            Try a model in the playground
          </Link>
        )
      }
    >
      {isFiltered
        ? "Choose another period, model or key."
        : "Charged calls and tasks appear here by day, model and key. Choose another period, or make a call."}
    </EmptyState>
  );
}
