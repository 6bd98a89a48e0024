import { getRouteApi, Link } from "@tanstack/react-router";
import type { Usage } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { Stat } from "../../design/stat.tsx";
import { findDay } from "../../parts/format/calendar-days.ts";
import { formatAmount, type Unit } from "../../parts/format/format-amount.ts";
import { formatCount } from "../../parts/format/format-money.ts";
import { Money } from "../../parts/format/money.tsx";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { UsageFilters } from "./usage-filters.tsx";
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
      title="No charges in this period"
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

function UsageTotals({ usage }: { usage: Usage | undefined }) {
  const total = usage?.total;
  const count = (value: number | undefined) => (value === undefined ? undefined : formatCount(value));
  const cached = total?.cached_input_tokens ?? 0;
  return (
    <div className="grid grid-cols-2 gap-x-8 gap-y-6 lg:grid-cols-4">
      <Stat
        label="Charge"
        value={usage === undefined ? undefined : <Money amount={usage.total.charge} currency={usage.currency} />}
        detail={usage === undefined ? "" : writeQuotas(usage)}
      />
      <Stat label="Calls and tasks" value={count(total?.calls)} detail={total === undefined ? "" : writeMade(total)} />
      <Stat
        label="Input tokens"
        value={count(total?.input_tokens)}
        detail={cached === 0 ? "" : `${formatCount(cached)} from cache`}
      />
      <Stat label="Output tokens" value={count(total?.output_tokens)} detail="" />
    </div>
  );
}

/** Usage paid from the plan's quotas. */
function writeQuotas({ total, currency }: Usage): string {
  const used = Object.entries(total.quota).filter(([, units]) => units > 0);
  if (used.length === 0) return "";
  const texts = used.map(([unit, units]) => formatAmount({ unit: unit as Unit, amount: String(units), currency }));
  return `and ${texts.join(", ")} of your quotas`;
}

function writeMade({ images, seconds, characters }: Usage["total"]): string {
  const made = [
    [images, "image"],
    [seconds, "second"],
    [characters, "character"],
  ] as const;
  const texts = made.flatMap(([count, name]) =>
    count === 0 ? [] : [`${formatCount(count)} ${name}${count === 1 ? "" : "s"}`],
  );
  return texts.join(", ");
}
