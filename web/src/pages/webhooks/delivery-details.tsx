import type { ReactNode } from "react";
import type { Delivery } from "../../api/fetch-webhooks.ts";
import { Badge } from "../../design/badge.tsx";
import { describeAttempt, describeDeliveryStatus } from "../../parts/format/delivery-labels.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";

type DisclosureProps = {
  title: ReactNode;
  detail: ReactNode;
  onOpen?(): void;
  children: ReactNode;
};

/** A collapsible row. */
export function Disclosure({ title, detail, onOpen, children }: DisclosureProps) {
  return (
    <details className="group" onToggle={(event) => event.currentTarget.open && onOpen?.()}>
      <summary className="flex list-none flex-wrap items-center justify-between gap-x-4 gap-y-1 rounded-sm py-3 text-sm hover:bg-sunken/60 sm:px-3 [&::-webkit-details-marker]:hidden">
        <span className="flex min-w-0 items-center gap-2.5">
          <svg
            viewBox="0 0 16 16"
            aria-hidden="true"
            className="size-3 shrink-0 fill-none stroke-current text-ink-soft group-open:rotate-90"
            strokeWidth="2"
          >
            <path d="m6 3.5 4.5 4.5L6 12.5" />
          </svg>
          <span className="min-w-0 font-medium">{title}</span>
        </span>
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft tabular-nums max-sm:pl-5.5">
          {detail}
        </span>
      </summary>
      <div className="flex flex-col gap-4 pb-5 pl-5.5 sm:px-8.5">{children}</div>
    </details>
  );
}

export function DeliveryStatus({ status }: { status: Delivery["status"] }) {
  const { kind, name } = describeDeliveryStatus(status);
  return <Badge kind={kind}>{name}</Badge>;
}

export function Attempts({ delivery: { attempts, next_attempt_at: nextAt } }: { delivery: Delivery }) {
  const { time_zone: timeZone } = useSession().account;
  return (
    <ol aria-label="Attempts" className="flex flex-col gap-3 text-sm">
      {attempts.map(({ number, attempted_at: attemptedAt, answer, ...attempt }) => (
        <li key={`${number} ${attemptedAt}`} className="flex flex-col gap-1.5">
          <p className="flex flex-wrap justify-between gap-x-4">
            <span>
              Attempt {number}: {describeAttempt(attempt)}
            </span>
            <span className="text-ink-soft tabular-nums">{formatMoment(attemptedAt, timeZone)}</span>
          </p>
          {answer !== undefined && (
            <pre className="max-h-40 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs whitespace-pre-wrap">
              {answer}
            </pre>
          )}
        </li>
      ))}
      {attempts.length === 0 && <li className="text-ink-soft">No attempt yet.</li>}
      {nextAt !== undefined && <li className="text-ink-soft">Next attempt {formatMoment(nextAt, timeZone)}</li>}
    </ol>
  );
}
