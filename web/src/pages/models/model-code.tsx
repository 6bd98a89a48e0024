import { Link } from "@tanstack/react-router";
import type { ModelDetail } from "../../api/fetch-catalog.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { FirstCall } from "../../parts/samples/first-call.tsx";

export function ModelCode({ model }: { model: ModelDetail }) {
  const site = useTableQuery(queryTable.site.settings());
  return (
    <section aria-labelledby="model-code" className="flex min-w-0 flex-col gap-4">
      <h2 id="model-code" className="text-lg font-semibold">
        Call it
      </h2>
      <p className="max-w-prose text-sm text-ink-soft">
        Put{" "}
        <Link to="/console/keys" className={linkClasses}>
          an API key
        </Link>{" "}
        into <code className="font-mono">SLUICE_API_KEY</code> on your server, then run this.
        {needs[model.type]}
      </p>
      {site.error !== null && <LoadFailure error={site.error} onRetry={() => void site.refetch()} />}
      {site.error === null && site.data === undefined && <Skeleton className="h-80" />}
      {site.data !== undefined && <FirstCall model={model} baseUrl={site.data.base_url} />}
      {!answersAtOnce.has(model.type) && <TaskNotes type={model.type} />}
    </section>
  );
}

/** Types whose output is in the response. */
const answersAtOnce: ReadonlySet<ModelDetail["type"]> = new Set(["chat", "speech", "embedding", "transcription"]);

const needs: Record<ModelDetail["type"], string> = {
  chat: "",
  image: "",
  video: "",
  avatar: " It uploads a portrait and a voice recording from the current folder.",
  drama: "",
  speech: " Any OpenAI client works.",
  embedding: " Any OpenAI client works.",
  transcription: " Any OpenAI client works. It uploads a recording from the current folder.",
};

function TaskNotes({ type }: { type: ModelDetail["type"] }) {
  return (
    <ul className="flex max-w-prose list-disc flex-col gap-1.5 pl-5 text-sm text-ink-soft">
      {type === "drama" && (
        <li>
          Dramas need a webhook endpoint, a <code className="font-mono">callback_url</code> or the event inbox.
        </li>
      )}
      <li>
        The response is a task. Instead of polling it, let{" "}
        <Link to="/console/webhooks" className={linkClasses}>
          a webhook
        </Link>{" "}
        notify you when it ends.
      </li>
      <li>
        Requests with the same <code className="font-mono">Idempotency-Key</code> within a day are one task and one
        charge.
      </li>
    </ul>
  );
}
