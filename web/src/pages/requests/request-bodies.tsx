import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { LoggedRequest, RequestContent } from "../../api/ask-requests.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { TitledCode } from "../../design/code-block.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { type ContentBody, describeBody, explainAbsence, listOmissions, presentBody } from "./content-words.ts";
import { DeleteContent } from "./delete-content.tsx";

type RequestBodiesProps = {
  request: LoggedRequest;
  /** Retention in days. */
  days: number;
};

/** Logged bodies, or how to enable the content log. */
export function RequestBodies({ request, days }: RequestBodiesProps) {
  if (request.has_content) return <LoadedBodies id={request.id} />;
  const reason = explainAbsence(request.created_at, { now: new Date(), days });
  return <NoContent reason={reason} keyId={request.key_id} />;
}

function LoadedBodies({ id }: { id: string }) {
  const content = useTableQuery(queryTable.requests.content(id));
  if (content.error !== null) {
    return (
      <Section title="Content">
        <LoadFailure error={content.error} onRetry={() => void content.refetch()} />
      </Section>
    );
  }
  if (content.data === undefined) return <Skeleton className="h-48" />;
  return <Bodies id={id} content={content.data} />;
}

function NoContent({ reason, keyId }: { reason: string; keyId: string }) {
  return (
    <Section title="Content">
      <EmptyState
        title="No content stored"
        action={
          <Link to="/console/keys" search={{ key: keyId, do: "edit" }} className={buttonClasses("plain")}>
            Change the key
          </Link>
        }
      >
        {reason} Turn on the key's content log to store the content of requests from then on.
      </EmptyState>
    </Section>
  );
}

const absences: Readonly<Record<"lost" | "deleted", string>> = {
  lost: "The content was lost because the log was overloaded.",
  deleted: "The content was deleted.",
};

function Bodies({ id, content }: { id: string; content: RequestContent }) {
  const [isDeleting, setDeleting] = useState(false);
  const { time_zone: timeZone } = useSession().account;
  const { state, request, answer, expires_at: expiresAt } = content;
  if (state !== "kept" || request === null || answer === null) {
    return (
      <Section title="Content">
        <p className="text-sm text-ink-soft">{absences[state === "kept" ? "lost" : state]}</p>
      </Section>
    );
  }
  return (
    <>
      <BodySection title="Request" body={request} />
      <BodySection title="Response" body={answer} />
      <div className="-mt-4 flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <p className="text-sm text-ink-soft">Stored until {formatMoment(expiresAt, timeZone)}.</p>
        <Button look="danger" onClick={() => setDeleting(true)}>
          Delete content
        </Button>
      </div>
      {isDeleting && <DeleteContent id={id} onClose={() => setDeleting(false)} />}
    </>
  );
}

function BodySection({ title, body }: { title: string; body: ContentBody }) {
  const omissions = listOmissions(body);
  return (
    <Section title={title} {...(omissions.length === 0 ? {} : { intro: omissions.join(" ") })}>
      {body.text === null || body.text === "" ? (
        <p className="text-sm text-ink-soft">{describeBody(body)}</p>
      ) : (
        <TitledCode isLong label={describeBody(body)} code={presentBody(body)} />
      )}
    </Section>
  );
}
