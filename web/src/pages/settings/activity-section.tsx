import { api, ask } from "../../api/console-api.ts";
import { nameQueries, paged } from "../../api/define-queries.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { Card } from "../../design/card.tsx";
import { DataListText } from "../../design/data-list.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";

const pageSize = 10;

const listActivity = (after: string | undefined) =>
  ask(api.GET("/activity", { params: { query: { limit: pageSize, ...(after === undefined ? {} : { after }) } } }));

type Activity = Awaited<ReturnType<typeof listActivity>>["data"][number];

/** Not in the console's table of queries: only this page asks it, and every page loads the table. */
const activityQueries = nameQueries({ activity: { list: paged(listActivity) } });

const actors: Readonly<Record<Activity["by"], string>> = {
  person: "You",
  key: "An API key",
  operator: "The operator of this service",
  service: "This service",
};

/** Where the words of an action are not its sentence. */
const sentences: Readonly<Record<string, string>> = {
  "account.view_begun": "Began to look at your account, read-only",
  "account.view_ended": "The look at your account ended",
  "account.spend_cap_lifted": "Lifted the daily spend cap",
  "account.changed": "Changed plan or limits",
  "two_step.codes_renewed": "Renewed backup codes",
  "session.others_ended": "Ended all other sessions",
  "person.exported": "Exported your data",
  "person.erased": "Erased personal data",
};

/** What happened to the account, by whom. */
export function ActivitySection() {
  const { time_zone: timeZone } = useSession().account;
  const { rows, more, error, onRetry } = usePageQuery(activityQueries.activity.list());
  return (
    <Card title="Activity" intro="What you, your keys and the operator of this service changed or looked at.">
      <div className="flex flex-col gap-4">
        {rows === undefined && error === null && (
          <div aria-busy="true">
            <Skeleton className="h-12" />
          </div>
        )}
        {rows === undefined && error !== null && (
          <LoadFailure title="Could not load this list." error={error} onRetry={onRetry} />
        )}
        {rows?.length === 0 && <p className="text-sm text-ink-soft">Nothing happened yet.</p>}
        {rows !== undefined && rows.length > 0 && (
          <ul aria-label="Activity" className="divide-y divide-line border-y border-line">
            {rows.map((row) => (
              <li key={row.id} className="py-3">
                <DataListText
                  title={describeAction(row.action)}
                  detail={[
                    `${actors[row.by]}, ${formatMoment(row.created_at, timeZone)}`,
                    ...(row.address === null ? [] : [row.address]),
                  ].join(" · ")}
                />
              </li>
            ))}
          </ul>
        )}
        <LoadMore {...more} />
      </div>
    </Card>
  );
}

/** `key.created` becomes "Key created". */
function describeAction(action: string): string {
  const words = sentences[action] ?? action.replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
