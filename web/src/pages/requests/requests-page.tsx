import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { type readLogState, writeExportAddress } from "../../api/fetch-requests.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Notice } from "../../design/notice.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { findBusySpan } from "./arrange-summary.ts";
import { RequestTable } from "./request-table.tsx";
import { type RequestsSearch, type RequestsView, readRequestsView, writePeriod } from "./requests-view.ts";
import { openFilter } from "./saved-filter.ts";

const route = getRouteApi("/signed-in/console/console/requests");

const SavedFilters = lazyPart(async () => (await import("./saved-filters.tsx")).SavedFilters);
const RequestFilters = lazyPart(
  async () => (await import("./request-filters.tsx")).RequestFilters,
  <Skeleton className="h-10" />,
);
const FirstRequest = lazyPart(
  async () => (await import("./first-request.tsx")).FirstRequest,
  <Skeleton className="h-96" />,
);
const RequestReport = lazyPart(
  async () => (await import("./request-report.tsx")).RequestReport,
  <Skeleton className="h-96" />,
);

/** Requests are logged shortly after they end. Polled this often only without a change stream. */
const tailMs = 2_000;
const summaryMs = 10_000;

export function RequestsPage() {
  const [search, change] = useSearchControls<RequestsSearch>(route.useSearch(), route.useNavigate());
  const [openedMs] = useState(Date.now);
  const [isPaused, setPaused] = useState(false);
  const answers = useQueryCache();
  const view = readRequestsView(search, openedMs);
  const state = useTableQuery(queryTable.requests.state(), {
    decideRefreshMs: (log) => (log?.isEmpty === true ? tailMs : null),
  });
  const isLive = view.isOpen && !isPaused;
  const switchLive = (isOn: boolean): void => {
    setPaused(!isOn);
    // Cancel the refetch that was running when the user paused.
    void (isOn ? answers.refresh("requests") : answers.stop("requests"));
  };
  return (
    <ConsoleFrame
      title="Requests"
      intro="Every request made with your API keys, including failed ones, within a second of its end."
      actions={
        state.data?.isEmpty === false && (
          <>
            <SavedFilters search={search} onOpen={(saved) => change(openFilter(saved))} />
            {view.isOpen && <LiveSwitch isLive={isLive} onChange={switchLive} />}
            <a href={writeExportAddress(view.filter)} download="requests.csv" className={buttonClasses("plain")}>
              <Icon name="download" />
              Download CSV
            </a>
          </>
        )
      }
    >
      {state.data?.isEmpty === true ? (
        <FirstRequest />
      ) : (
        <>
          <LogGaps gaps={state.data?.gaps ?? []} from={view.filter.from} />
          <RequestLog view={view} isLive={isLive} onChange={change} />
        </>
      )}
    </ConsoleFrame>
  );
}

type RequestLogProps = { view: RequestsView; isLive: boolean; onChange(part: RequestsSearch): void };

function RequestLog({ view, isLive, onChange }: RequestLogProps) {
  const { time_zone: timeZone } = useSession().account;
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const summary = useTableQuery(queryTable.requests.summary(view.filter), {
    isHeld: !isLive,
    decideRefreshMs: () => (isLive ? summaryMs : null),
  });
  const { rows, more, error, onRetry } = usePageQuery(queryTable.requests.list(view.filter), {
    isHeld: !isLive,
    decideRefreshMs: () => (isLive ? tailMs : null),
  });
  const busy = summary.data === undefined ? null : findBusySpan(summary.data);
  const busySummary = useTableQuery(queryTable.requests.summary({ ...view.filter, ...busy }), {
    ...{ isHeld: !isLive, isEnabled: busy !== null },
    decideRefreshMs: () => (isLive ? summaryMs : null),
  });
  const clear = () => onChange({ ...writePeriod("30d"), model: "", key: "", status: "", error: "", wire: "" });
  return (
    <>
      <RequestFilters
        view={view}
        timeZone={timeZone}
        errorCodes={summary.data?.errors.map(({ code }) => code) ?? []}
        onChange={onChange}
      />
      {summary.data === undefined && summary.error !== null ? (
        <LoadFailure title="Could not load the summary." error={summary.error} onRetry={() => void summary.refetch()} />
      ) : (
        <RequestReport
          summary={summary.data}
          charted={busy === null ? summary.data : (busySummary.data ?? summary.data)}
          timeZone={timeZone}
          onSpan={onChange}
        />
      )}
      {rows === undefined && error !== null && (
        <LoadFailure title="Could not load the requests." error={error} onRetry={onRetry} />
      )}
      {rows?.length === 0 && <NoRequests view={view} onClear={clear} />}
      {(rows === undefined ? error === null : rows.length > 0) && (
        <div className="flex flex-col gap-4">
          <RequestTable
            // Other filters replace all rows, so none of them is new.
            key={JSON.stringify(view.filter)}
            rows={rows}
            timeZone={timeZone}
            currency={site?.currency}
            keyNames={keyNames}
          />
          <LoadMore {...more} />
        </div>
      )}
    </>
  );
}

function NoRequests({ view, onClear }: { view: RequestsView; onClear(): void }) {
  const isWhole = view.period === "30d" && !view.isFiltered;
  return (
    <EmptyState
      title={view.isFiltered ? "No requests match." : "No requests in this period."}
      action={!isWhole && <Button onClick={onClear}>Show all requests</Button>}
    >
      {view.isFiltered
        ? "Choose another period, status, model, key or API."
        : "Choose a longer period, or make a call with one of your API keys."}
    </EmptyState>
  );
}

/** Whether new requests appear automatically. */
function LiveSwitch({ isLive, onChange }: { isLive: boolean; onChange(isLive: boolean): void }) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isLive}
      aria-label="Live"
      onClick={() => onChange(!isLive)}
      className={buttonClasses("plain")}
    >
      <span
        className={joinClasses(
          "size-2 rounded-full",
          isLive ? "bg-success ring-4 ring-success-soft" : "bg-line-strong",
        )}
      />
      {isLive ? "Live" : "Paused"}
    </button>
  );
}

type Gap = Awaited<ReturnType<typeof readLogState>>["gaps"][number];

/** Gaps of the log in the shown period. */
function LogGaps({ gaps, from = "" }: { gaps: readonly Gap[]; from: string | undefined }) {
  const { time_zone: timeZone } = useSession().account;
  const shown = gaps.filter((gap) => gap.to >= from);
  if (shown.length === 0) return null;
  return (
    <Notice kind="warning" title="Some requests are not in the log.">
      <ul>
        {shown.map((gap) => (
          <li key={gap.from}>
            {formatCount(gap.lost)} between {formatMoment(gap.from, timeZone)} and {formatMoment(gap.to, timeZone)}
          </li>
        ))}
      </ul>
      <p>
        The log could not be written at that time. Everything that was charged is in{" "}
        <Link to="/console/usage" className={linkClasses}>
          Usage
        </Link>
        .
      </p>
    </Notice>
  );
}
