import { useState } from "react";
import { type Delivery, isUnderWay } from "../../api/fetch-webhooks.ts";
import { deliveryRefreshMs, queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { CopyableText } from "../../design/copyable-text.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { PageSection } from "../../design/page-section.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { describeAttempt, describeDeliveryStatus } from "../../parts/format/delivery-labels.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { Attempts, DeliveryStatus, Disclosure } from "./delivery-details.tsx";
import { ResendButton } from "./resend-button.tsx";

const statuses = ["pending", "succeeded", "failed", "dropped"] as const satisfies readonly Delivery["status"][];

/** Newest first. Refreshes while a delivery is pending. */
export function DeliveryLog({ endpointId }: { endpointId: string }) {
  const [status, setStatus] = useState("");
  const known = statuses.find((each) => each === status);
  const options = [
    { value: "", label: "All deliveries" },
    ...statuses.map((value) => ({ value, label: describeDeliveryStatus(value).name })),
  ];
  return (
    <PageSection
      title="Deliveries"
      actions={<SelectField label="Status" isCompact options={options} value={status} onChange={setStatus} />}
    >
      <Rows key={status} endpointId={endpointId} status={known} />
    </PageSection>
  );
}

function Rows({ endpointId, status }: { endpointId: string; status: Delivery["status"] | undefined }) {
  const { rows, error, onRetry, more } = usePageQuery(queryTable.webhooks.deliveries({ id: endpointId, status }), {
    decideRefreshMs: (seen) => (seen.some(isUnderWay) ? deliveryRefreshMs : null),
  });
  if (rows === undefined) {
    return error === null ? (
      <div aria-busy="true" className="flex flex-col gap-3">
        <p className="sr-only">Loading</p>
        <Skeleton className="h-10" />
        <Skeleton className="h-10" />
      </div>
    ) : (
      <LoadFailure title="Could not load the deliveries." error={error} onRetry={onRetry} />
    );
  }
  if (rows.length === 0) {
    return status === undefined ? (
      <EmptyState title="No deliveries yet">
        Send a test event to see whether it arrives, or wait for a task to end.
      </EmptyState>
    ) : (
      <EmptyState title="No deliveries match.">Choose another status.</EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-4">
      <ul aria-label="Deliveries" className="divide-y divide-line border-y border-line">
        {rows.map((delivery) => (
          <li key={delivery.id}>
            <DeliveryRow delivery={delivery} endpointId={endpointId} />
          </li>
        ))}
      </ul>
      <LoadMore {...more} />
    </div>
  );
}

function DeliveryRow({ delivery, endpointId }: { delivery: Delivery; endpointId: string }) {
  const { time_zone: timeZone } = useSession().account;
  const last = delivery.attempts.at(-1);
  return (
    <Disclosure
      title={delivery.event_type}
      detail={
        <>
          {last !== undefined && <span className="max-sm:hidden">{describeAttempt(last)}</span>}
          <DeliveryStatus status={delivery.status} />
          <span>{formatMoment(new Date(delivery.created * 1000).toISOString(), timeZone)}</span>
        </>
      }
    >
      <Attempts delivery={delivery} />
      <p className="text-sm">
        <span className="text-ink-soft">Event</span> <CopyableText text={delivery.event_id} label="event ID" />
      </p>
      <ResendButton eventId={delivery.event_id} endpointId={endpointId} />
    </Disclosure>
  );
}
