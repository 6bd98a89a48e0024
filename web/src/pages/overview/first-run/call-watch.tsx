import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import type { Charge } from "../../../api/fetch-spending.ts";
import { queryTable } from "../../../api/query-table.ts";
import { useQueryCache } from "../../../api/use-query-cache.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Icon } from "../../../design/icon.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { isMoneyZero } from "../../../parts/format/sum-money.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { writeCharge } from "../../../parts/records/charge-columns.tsx";

/** Poll fast only without a change stream: a user who pasted a call watches this page. */
const lookMs = 2_000;

type CallWatchProps = { hasKey: boolean; charge: Charge | undefined; taskId: string | undefined };

/** Waits for the first call while the page is visible, and shows its outcome. */
export function CallWatch({ hasKey, charge, taskId }: CallWatchProps) {
  const answers = useQueryCache();
  const { data: balance } = useTableQuery(queryTable.balance.now());
  const { data: call } = useTableQuery(queryTable.firstCall.now(), {
    isEnabled: hasKey,
    decideRefreshMs: (last) => (last?.state === "succeeded" ? null : lookMs),
  });
  const state = call?.state ?? "waiting";
  useEffect(() => {
    if (state === "succeeded") void answers.refresh("charges", "tasks", "balance", "usage");
  }, [state, answers]);
  if (charge !== undefined || (state === "succeeded" && taskId === undefined)) {
    return (
      <Box look="good" title="Your first call succeeded">
        {charge === undefined ? <Skeleton className="h-5 w-56" /> : <Cost charge={charge} />}
      </Box>
    );
  }
  if (taskId !== undefined) {
    return (
      <Box look="good" title="Your first task was accepted">
        <Link to="/console/tasks/$id" params={{ id: taskId }} className={linkClasses}>
          See its result
        </Link>
      </Box>
    );
  }
  if (!hasKey) return null;
  if (state !== "arrived") {
    return (
      <Box look="waiting" title="Waiting for your first call…">
        <ul className="flex list-disc flex-col gap-1 pl-4 text-ink-soft">
          <li>A 401 means that the key is missing or incomplete. Copy the whole call again.</li>
          <li>If there is no response, run the call on a machine that can reach this site.</li>
        </ul>
      </Box>
    );
  }
  const isUnpaid = balance !== undefined && balance.plan === null && isMoneyZero(balance.available_balance);
  return isUnpaid ? (
    <Box look="bad" title="Your call arrived, but your balance is empty">
      <p className="text-ink">It returns 402. Add credit, then run it again.</p>
    </Box>
  ) : (
    <Box look="bad" title="Your call arrived, but it did not succeed">
      <p className="text-ink">
        {call?.refusal == null ? (
          "It was rejected, or costs nothing. "
        ) : (
          <>
            It was answered with {call.refusal.status} <code className="font-mono">{call.refusal.code}</code>.{" "}
          </>
        )}
        The response says what to change. The call on this page works unchanged.
      </p>
    </Box>
  );
}

type BoxProps = { look: keyof typeof looks; title: string; children: ReactNode };

const looks = {
  waiting: "border-line-strong border-dashed",
  good: "border-success bg-success-soft",
  bad: "border-warning bg-warning-soft",
} as const;

/** One box for all states, so screen readers announce the changed title. */
function Box({ look, title, children }: BoxProps) {
  return (
    <section aria-label="First call" className={`flex gap-3 rounded-md border p-4 text-sm ${looks[look]}`}>
      {look === "good" ? (
        <Icon name="check" className="mt-0.5 size-4 text-success" />
      ) : (
        <Pulse colour={look === "bad" ? "bg-warning" : "bg-accent"} />
      )}
      <div className="flex min-w-0 flex-col gap-1.5">
        <p role="status" className="font-medium text-ink">
          {title}
        </p>
        {children}
      </div>
    </section>
  );
}

/** Keeps waiting after a failed call. */
function Pulse({ colour }: { colour: string }) {
  return (
    <span aria-hidden="true" className="relative mt-1.5 size-2 shrink-0">
      <span className={`absolute inset-0 animate-ping rounded-full motion-reduce:animate-none ${colour}`} />
      <span className={`absolute inset-0 rounded-full ${colour}`} />
    </span>
  );
}

function Cost({ charge }: { charge: Charge }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  return (
    <p className="text-ink">
      {charge.model ?? "It"} answered for{" "}
      <strong className="font-semibold tabular-nums">
        {site === undefined ? "…" : writeCharge(charge, site.currency)}
      </strong>
      .{" "}
      <Link to="/console/usage/charges/$id" params={{ id: charge.id }} className={`whitespace-nowrap ${linkClasses}`}>
        See its charge
      </Link>
    </p>
  );
}
