import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { deleteContent, type LoggedRequest, type RequestContent } from "../../api/fetch-requests.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { TitledCode } from "../../design/code-block.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { useToast } from "../../design/toast.tsx";
import { formatBytes } from "../../parts/format/format-bytes.ts";
import { formatCount } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useSession } from "../../parts/session/use-session.ts";

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

function DeleteContent({ id, onClose }: { id: string; onClose(): void }) {
  const answers = useQueryCache();
  const showToast = useToast();
  const action = useAction(
    () => deleteContent(id),
    (content) => {
      answers.write(queryTable.requests.content(id), content);
      showToast("Content deleted.");
    },
  );
  return (
    <Dialog title="Delete the content?" onClose={onClose}>
      <p className="text-sm text-ink-soft">
        The request and response bodies are deleted permanently. The request stays in the log.
      </p>
      <FormError message={action.errorBeside()} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" isBusy={action.isBusy} onClick={() => action.run(undefined)}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}

type ContentBody = NonNullable<RequestContent["request"]>;

const dayMs = 24 * 60 * 60_000;

function explainAbsence(createdAt: string, { now, days }: { now: Date; days: number }): string {
  if (now.getTime() - Date.parse(createdAt) < days * dayMs) {
    return "The key's content log was off at the time of this request.";
  }
  return `Contents expire after ${days === 1 ? "1 day" : `${formatCount(days)} days`}.`;
}

function describeBody({ content_type: type, bytes, text }: ContentBody): string {
  if (type === null || bytes === 0) return "No body";
  const [name = type] = type.split(";");
  const length = bytes === null ? [] : [formatBytes(bytes)];
  return [name, ...length, ...(text === null ? ["not stored: binary"] : [])].join(" · ");
}

/** JSON is pretty-printed, everything else is unchanged. */
function presentBody({ content_type: type, text, truncated }: ContentBody): string {
  if (text === null) return "";
  if (truncated || type?.includes("json") !== true) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not valid JSON: shown unchanged.
    return text;
  }
}

function listOmissions({ hidden, left_out: leftOut, truncated }: ContentBody): string[] {
  return [
    ...(hidden === 0 ? [] : [`Secrets are redacted in ${hidden === 1 ? "1 place" : `${formatCount(hidden)} places`}.`]),
    ...(leftOut === 0 ? [] : [`${formatCount(leftOut)} characters of encoded files are left out.`]),
    ...(truncated ? ["Only the beginning is stored."] : []),
  ];
}
