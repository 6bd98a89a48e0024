import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, ask } from "../api/console-api.ts";
import { Button } from "../design/button.tsx";
import { Card } from "../design/card.tsx";
import { Mark } from "../design/mark.tsx";
import { Notice } from "../design/notice.tsx";
import { PageHeading } from "../design/page-heading.tsx";
import { Skeleton } from "../design/skeleton.tsx";
import { linkClasses } from "../parts/focus-page.tsx";
import { formatSince } from "../parts/format-time.ts";

const refreshMs = 3_000;

/** Mails of a gateway without a mail server. It exists on the developer's own machine only, and needs no session. */
export function OutboxPage() {
  const outbox = useQuery({
    queryKey: ["outbox"],
    queryFn: () => ask(api.GET("/outbox")),
    refetchInterval: (query) => (query.state.status === "error" ? false : refreshMs),
  });
  const mails = outbox.data?.data;
  return (
    <div className="mx-auto flex max-w-3xl flex-col gap-6 px-4 py-8 sm:px-6 sm:py-12">
      <header className="flex items-center gap-2.5">
        <Mark />
        <span className="text-lg font-semibold tracking-tight">Sluice</span>
        <Link to="/sign-in" className={`ml-auto text-sm ${linkClasses}`}>
          Sign in
        </Link>
      </header>
      <main className="flex flex-col gap-6">
        <PageHeading
          intro={
            <>
              This gateway has no mail server, so what it would send is shown here, newest first. The setting{" "}
              <code className="font-mono text-sm">smtp_url</code> makes it send real mails.
            </>
          }
        >
          Outbox
        </PageHeading>
        {outbox.isError && (
          <Notice kind="error" title="There is no outbox here.">
            <p>{outbox.error.message}</p>
            <Button look="quiet" className="-ml-2" onClick={() => outbox.refetch()}>
              Try again
            </Button>
          </Notice>
        )}
        {outbox.isPending && <Skeleton className="h-40" />}
        {mails?.length === 0 && <p className="text-ink-soft">No mail yet. It appears here by itself.</p>}
        {mails?.map((mail) => (
          <Card key={mail.id} title={mail.subject} intro={`To ${mail.to}, ${formatSince(mail.at, new Date())}`}>
            <pre className="font-sans text-sm whitespace-pre-wrap">{mail.text}</pre>
            <p className="mt-4 flex flex-col gap-1 text-sm">
              {mail.links.map((link) => (
                <a key={link} href={link} className={linkClasses}>
                  Open {new URL(link, location.origin).pathname}
                </a>
              ))}
            </p>
          </Card>
        ))}
      </main>
    </div>
  );
}
