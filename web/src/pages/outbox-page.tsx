import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ApiError, api, ask } from "../api/console-api.ts";
import { queryTable } from "../api/query-table.ts";
import { useQueryCache } from "../api/use-query-cache.ts";
import { useTableQuery } from "../api/use-table-query.ts";
import { Button } from "../design/button.tsx";
import { Card } from "../design/card.tsx";
import { InlineCodeText } from "../design/inline-code-text.tsx";
import { Notice } from "../design/notice.tsx";
import { PageHeading } from "../design/page-heading.tsx";
import { Skeleton } from "../design/skeleton.tsx";
import { TextField } from "../design/text-field.tsx";
import { formatSince } from "../parts/format/format-time.ts";
import { FormError } from "../parts/forms/form-error.tsx";
import { useAction } from "../parts/forms/use-action.ts";
import { BrandMark } from "../parts/frame/brand-mark.tsx";
import { linkClasses } from "../parts/frame/focus-page.tsx";

const refreshMs = 3_000;

/** Mails of a gateway without a mail server. Only on a developer's machine, protected by a secret. */
export function OutboxPage() {
  const isReady = useSecretOfLink();
  const outbox = useTableQuery(queryTable.outbox.list(), {
    isEnabled: isReady,
    decideRefreshMs: (last) => (last === undefined ? null : refreshMs),
  });
  const mails = outbox.data?.data;
  const isLocked = outbox.error instanceof ApiError && outbox.error.code === "wrong_credentials";
  return (
    <div className="mx-auto flex max-w-3xl flex-col gap-6 px-4 py-8 sm:px-6 sm:py-12">
      <header className="flex items-center gap-2.5">
        <BrandMark />
        <Link to="/sign-in" className={`ml-auto text-sm ${linkClasses}`}>
          Sign in
        </Link>
      </header>
      <main className="flex flex-col gap-6">
        <PageHeading
          intro={
            <>
              This gateway has no mail server. Its e-mails appear here, newest first. Set{" "}
              <code className="font-mono text-sm">smtp_url</code> to send them.
            </>
          }
        >
          Outbox
        </PageHeading>
        {isLocked && <SecretForm />}
        {outbox.isError && !isLocked && (
          <Notice kind="error" title="Could not open the outbox.">
            <p>
              <InlineCodeText text={outbox.error.message} />
            </p>
            <Button look="quiet" className="-ml-2" onClick={() => outbox.refetch()}>
              Try again
            </Button>
          </Notice>
        )}
        {outbox.isPending && <Skeleton className="h-40" />}
        {mails?.length === 0 && <p className="text-ink-soft">No e-mails yet. They appear here automatically.</p>}
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

/**
 * The link printed at startup has the secret in its fragment. The secret is sent once and removed from the address bar,
 * also if only the fragment changes on an open page.
 */
function useSecretOfLink(): boolean {
  const answers = useQueryCache();
  const [isReady, setReady] = useState(location.hash === "");
  useEffect(() => {
    const handOver = () => {
      const secret = location.hash.slice(1);
      if (secret === "") return;
      history.replaceState(history.state, "", location.pathname);
      openOutbox(secret)
        // A wrong link falls back to the form.
        .catch(() => {})
        .finally(() => {
          setReady(true);
          void answers.refresh("outbox");
        });
    };
    handOver();
    addEventListener("hashchange", handOver);
    return () => removeEventListener("hashchange", handOver);
  }, [answers]);
  return isReady;
}

const openOutbox = (secret: string) => ask(api.POST("/outbox/open", { body: { secret } }));

function SecretForm() {
  const answers = useQueryCache();
  const [secret, setSecret] = useState("");
  const open = useAction(
    () => openOutbox(secret.trim().split("#").at(-1) ?? ""),
    () => answers.refresh("outbox"),
  );
  return (
    <Card
      title="Open the outbox"
      intro={
        <>
          Anyone who reads these e-mails can sign in to every account, so they are protected by a secret. The terminal
          that runs this gateway shows it as a link; where there is no terminal, the link is in{" "}
          <code className="font-mono text-sm">secrets/outbox-link</code> in the data folder.
        </>
      }
    >
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          open.run(undefined);
        }}
      >
        <FormError message={open.errorBeside("secret")} />
        <TextField
          label="Link or secret"
          name="outbox_secret"
          autoComplete="off"
          required
          value={secret}
          onChange={setSecret}
          error={open.errorAt("secret")}
        />
        <div>
          <Button look="primary" type="submit" isBusy={open.isBusy}>
            Open
          </Button>
        </div>
      </form>
    </Card>
  );
}
