import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { PageSection } from "../../design/page-section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useSession } from "../../parts/session/use-session.ts";

/** For accounts without a receiver, which poll their events. */
export function InboxSection() {
  const { time_zone: timeZone } = useSession().account;
  const answers = useAnswerCache();
  const inbox = useTableQuery(queryTable.inbox.now());
  const change = useAction(
    (isOpen: boolean) => ask(isOpen ? api.POST("/event_inbox", { body: {} }) : api.DELETE("/event_inbox")),
    () => answers.refresh("inbox"),
  );
  const { data, error } = inbox;
  return (
    <PageSection
      title="Event inbox"
      intro="Dramas need a webhook endpoint or the event inbox. If you have no receiver, open the inbox and read events above or at GET /events."
    >
      <FormError message={change.errorBeside()} />
      {data === undefined && error === null && <Skeleton className="h-10 w-64" />}
      {data === undefined && error !== null && <LoadFailure error={error} onRetry={() => void inbox.refetch()} />}
      {data !== undefined && (
        <div className="flex min-h-10 flex-wrap items-center gap-x-4 gap-y-2 text-sm">
          <Badge kind={data.is_open ? "good" : "neutral"}>{data.is_open ? "Open" : "Closed"}</Badge>
          {data.opened_at !== null && (
            <span className="text-ink-soft">since {formatMoment(data.opened_at, timeZone)}</span>
          )}
          <Button isBusy={change.isBusy} onClick={() => change.run(!data.is_open)}>
            {data.is_open ? "Close inbox" : "Open inbox"}
          </Button>
        </div>
      )}
    </PageSection>
  );
}
