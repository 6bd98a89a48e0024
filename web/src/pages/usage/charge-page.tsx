import { getRouteApi, Link } from "@tanstack/react-router";
import type { ExplainedCharge } from "../../api/ask-spending.ts";
import { ApiError } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { type Fact, FactList } from "../../design/fact-list.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { writeCharge } from "../../parts/records/charge-columns.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { ChargeBill } from "./charge-bill.tsx";
import { ChargeMoney } from "./charge-money.tsx";
import { ChargePrice } from "./charge-price.tsx";

const route = getRouteApi("/signed-in/console/console/usage/charges/$id");

const usage = { to: "/console/usage", name: "Usage" };

export function ChargePage() {
  const { id } = route.useParams();
  const charge = useTableQuery(queryTable.charges.one(id));
  const site = useTableQuery(queryTable.site.settings());
  const error = charge.error ?? site.error;
  if (error instanceof ApiError && error.status === 404) return <NoSuchCharge />;
  if (error !== null) {
    const retry = () => {
      void charge.refetch();
      void site.refetch();
    };
    return (
      <ConsoleFrame title="Charge" parent={usage}>
        <LoadFailure error={error} onRetry={retry} />
      </ConsoleFrame>
    );
  }
  if (charge.data === undefined || site.data === undefined) {
    return (
      <ConsoleFrame title="Charge" parent={usage}>
        <div aria-busy="true" className="flex flex-col gap-8">
          <p className="sr-only">Loading</p>
          <Skeleton className="h-24" />
          <Skeleton className="h-72" />
        </div>
      </ConsoleFrame>
    );
  }
  const { currency } = site.data;
  return (
    <ConsoleFrame title="Charge" parent={usage}>
      <div className="-mt-4 flex flex-col gap-1">
        <p className="text-2xl font-semibold tabular-nums">{writeCharge(charge.data, currency)}</p>
        <p className="text-ink-soft">{charge.data.summary}</p>
      </div>
      <div className="grid gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-10">
          <ChargeBill charge={charge.data} currency={currency} />
          <ChargeMoney charge={charge.data} currency={currency} />
        </div>
        <div className="flex min-w-0 flex-col gap-10">
          <ChargeOrigin charge={charge.data} />
          {charge.data.price !== null && <ChargePrice price={charge.data.price} currency={currency} />}
        </div>
      </div>
    </ConsoleFrame>
  );
}

function ChargeOrigin({ charge }: { charge: ExplainedCharge }) {
  const { time_zone: timeZone } = useSession().account;
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const { model, key_id: keyId, task_id: taskId, request_id: requestId } = charge;
  const facts: (Fact | false)[] = [
    { name: "Time", value: formatMoment(new Date(charge.created * 1000).toISOString(), timeZone) },
    model !== null && {
      name: "Model",
      value: (
        <Link to="/console/models/$" params={{ _splat: model }} className={linkClasses}>
          {model}
        </Link>
      ),
    },
    taskId !== null && {
      name: "Task",
      value: (
        <Link to="/console/tasks/$id" params={{ id: taskId }} className={linkClasses}>
          Open task
        </Link>
      ),
    },
    keyId !== null && { name: "Key", value: keyNames?.get(keyId) ?? keyId },
    requestId !== null && {
      name: "Request",
      value: (
        <span className="flex flex-col items-end gap-0.5">
          <Link to="/console/requests/$id" params={{ id: requestId }} className={linkClasses}>
            Open request
          </Link>
          <CopyableText text={requestId} label="request ID" />
        </span>
      ),
    },
    { name: "Charge", value: <CopyableText text={charge.id} label="charge ID" /> },
  ];
  return (
    <section aria-label="Details" className="flex flex-col gap-3">
      <h2 className="font-semibold">Details</h2>
      <FactList facts={facts.filter((fact) => fact !== false)} />
    </section>
  );
}

function NoSuchCharge() {
  return (
    <ConsoleFrame title="Charge not found" parent={usage}>
      <EmptyState
        title="Your account has no such charge."
        action={
          <Link to="/console/usage" className={buttonClasses("plain")}>
            See your usage
          </Link>
        }
      >
        Check the ID. The charge may belong to another account.
      </EmptyState>
    </ConsoleFrame>
  );
}
