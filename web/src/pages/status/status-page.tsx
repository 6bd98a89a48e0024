import type { QueryClient } from "@tanstack/react-query";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { OpenPage } from "../../parts/frame/open-page.tsx";
import { StatusContents } from "./status-contents.tsx";

const feedPath = "/status/feed.xml";

/** The server sends the page with this data, so the script waits for it too. */
export async function prefetch(queries: QueryClient): Promise<void> {
  if (!import.meta.env.SSR) await queries.ensureQueryData(queryTable.uptime.current());
}

/** Public: what works now, 90 days of answered calls, and incidents. */
export function StatusPage() {
  const { data, error, refetch } = useTableQuery(queryTable.uptime.current());
  return (
    <OpenPage>
      <div className="mx-auto flex max-w-4xl flex-col gap-10 py-10 sm:py-14">
        <PageHeading
          intro={
            <>
              Calls that were answered, from real traffic.{" "}
              <a href={feedPath} className="text-accent underline underline-offset-4">
                RSS feed of incidents
              </a>
            </>
          }
        >
          Status
        </PageHeading>
        {data !== undefined ? (
          <StatusContents uptime={data} />
        ) : error !== null ? (
          <LoadFailure title="Could not load the status." error={error} onRetry={() => void refetch()} />
        ) : (
          <Placeholder />
        )}
      </div>
    </OpenPage>
  );
}

/** The server replaces it by the data (`fill-page-slots.ts`). */
function Placeholder() {
  return (
    <section aria-label="Current status" aria-busy="true" className="flex flex-col gap-4">
      <noscript>
        <p>The status is not available. Reload the page in a minute.</p>
      </noscript>
      <Skeleton className="h-16" />
      <Skeleton className="h-40" />
      <Skeleton className="h-40" />
    </section>
  );
}
