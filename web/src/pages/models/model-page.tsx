import { getRouteApi, Link } from "@tanstack/react-router";
import { ApiError } from "../../api/console-api.ts";
import type { ModelDetail } from "../../api/fetch-catalog.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { buttonClasses } from "../../design/button.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { describeModelStatus, nameType } from "../../parts/format/model-labels.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { ModelLogo } from "../../parts/records/model-logo.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { ModelFacts } from "./model-facts.tsx";

const route = getRouteApi("/signed-in/console/console/models/$");
const models = [{ to: "/console/models", name: "Models and prices" }];

const ModelCode = lazyPart(async () => (await import("./model-code.tsx")).ModelCode, <Skeleton className="h-96" />);

export function ModelPage() {
  const { _splat: id = "" } = route.useParams();
  const model = useTableQuery(queryTable.models.one(id));
  const prices = useTableQuery(queryTable.models.prices());
  const error = model.error ?? prices.error;
  if (error instanceof ApiError && error.status === 404) return <NoSuchModel id={id} />;
  if (error !== null) {
    const retry = () => {
      void model.refetch();
      void prices.refetch();
    };
    return (
      <ConsoleFrame title={id} parents={models}>
        <LoadFailure error={error} onRetry={retry} />
      </ConsoleFrame>
    );
  }
  if (model.data === undefined || prices.data === undefined) {
    return (
      <ConsoleFrame title={id} parents={models}>
        <div aria-busy="true" className="flex flex-col gap-8">
          <p className="sr-only">Loading</p>
          <Skeleton className="h-12" />
          <Skeleton className="h-96" />
        </div>
      </ConsoleFrame>
    );
  }
  const { currency, data: entries } = prices.data;
  return (
    <ConsoleFrame
      title={model.data.name}
      intro={model.data.description}
      parents={models}
      actions={<TryIt model={model.data} />}
    >
      <Head model={model.data} />
      <div className="grid gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <ModelCode model={model.data} />
        <ModelFacts model={model.data} prices={entries.filter((entry) => entry.model === id)} currency={currency} />
      </div>
    </ConsoleFrame>
  );
}

/** Embedding and transcription models have no playground. */
function TryIt({ model: { id, status, type } }: { model: ModelDetail }) {
  if (status === "unavailable" || type === "embedding" || type === "transcription") return null;
  return (
    <Link to="/console/playground" search={{ model: id }} className={buttonClasses("primary")}>
      Try it in the playground
    </Link>
  );
}

function Head({ model }: { model: ModelDetail }) {
  const { id, name, type, status, shutdown_date: shutdown } = model;
  const { time_zone: timeZone } = useSession().account;
  const { kind, name: word } = describeModelStatus(status);
  return (
    <div className="-mt-4 flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <ModelLogo model={model} className="size-8" />
        <Badge>{nameType(type)}</Badge>
        <Badge kind={kind}>{word}</Badge>
        <CopyableText text={id} label={`ID of ${name}`} />
      </div>
      {status === "unavailable" && (
        <Notice kind="warning" title="This model is unavailable.">
          Calls are refused without a charge. Try again later, or use another model.
        </Notice>
      )}
      {status === "deprecated" && shutdown !== undefined && (
        <Notice kind="warning" title={`This model is available until ${formatMoment(shutdown, timeZone)}.`}>
          Switch to another model before then.
        </Notice>
      )}
    </div>
  );
}

function NoSuchModel({ id }: { id: string }) {
  return (
    <ConsoleFrame title="Model not found" parents={models}>
      <EmptyState
        title="Your account has no such model."
        action={
          <Link to="/console/models" className={buttonClasses("plain")}>
            See all models
          </Link>
        }
      >
        <code className="font-mono">{id}</code> may be misspelled, or is no longer offered.
      </EmptyState>
    </ConsoleFrame>
  );
}
