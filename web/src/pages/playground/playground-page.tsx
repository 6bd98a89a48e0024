import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Model, ModelDetail, PriceList } from "../../api/ask-catalog.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { describePrice } from "../../parts/format/describe-price.ts";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { ChatWorkspace } from "./chat-workspace.tsx";
import type { MediaType } from "./media-fields.ts";
import { MediaWorkspace } from "./media-workspace.tsx";
import { ModelChooser } from "./model-chooser.tsx";

const route = getRouteApi("/signed-in/console/console/playground");

/** Any model of the account, tried at once. Which one is in the address. */
export function PlaygroundPage() {
  const models = useTableQuery(queryTable.models.list());
  const [isCodeShown, setCodeShown] = useState(false);
  const hasModels = models.data !== undefined && models.data.data.length > 0;
  return (
    <ConsoleFrame
      title="Playground"
      intro="Try any model. Calls cost the same as through the API."
      actions={
        <Button aria-pressed={isCodeShown} onClick={() => setCodeShown(!isCodeShown)} isDisabled={!hasModels}>
          Show code
        </Button>
      }
    >
      {models.isError && <LoadFailure error={models.error} onRetry={() => void models.refetch()} />}
      {models.isPending && <Waiting />}
      {models.data?.data.length === 0 && (
        <EmptyState title="No models yet">The operator has not added any models.</EmptyState>
      )}
      {models.data !== undefined && hasModels && <ChosenModel models={models.data.data} isCodeShown={isCodeShown} />}
    </ConsoleFrame>
  );
}

function Waiting() {
  return (
    <div aria-busy="true" className="flex flex-col gap-8">
      <Skeleton className="h-19" />
      <Skeleton className="h-96" />
    </div>
  );
}

function ChosenModel({ models, isCodeShown }: { models: readonly Model[]; isCodeShown: boolean }) {
  const [{ model: asked }, change] = useSearchControls(route.useSearch(), route.useNavigate());
  const usual = models.find(({ type }) => type === "chat") ?? models[0];
  const chosen = models.find(({ id }) => id === asked) ?? usual;
  const detail = useTableQuery(queryTable.models.one(chosen?.id ?? ""));
  const prices = useTableQuery(queryTable.models.prices());
  const failure = detail.error ?? prices.error;
  const retry = () => void Promise.all([detail.refetch(), prices.refetch()]);
  return (
    <>
      {asked !== undefined && chosen?.id !== asked && (
        <Notice kind="warning">Model {asked} is not available to this account. Another one is selected.</Notice>
      )}
      <div className="grid items-start gap-x-10 gap-y-4 lg:grid-cols-2">
        <ModelChooser models={models} chosenId={chosen?.id ?? ""} onChoose={(model) => change({ model })} />
        {chosen !== undefined && <ModelSummary model={chosen} prices={prices.data} />}
      </div>
      {failure !== null && <LoadFailure error={failure} onRetry={retry} />}
      {failure === null && (detail.data === undefined || prices.data === undefined) && <Skeleton className="h-96" />}
      {detail.data !== undefined && prices.data !== undefined && (
        <Workspace key={detail.data.type} model={detail.data} prices={prices.data} isCodeShown={isCodeShown} />
      )}
    </>
  );
}

/** Its place is kept while the prices are on their way. */
function ModelSummary({ model, prices }: { model: Model; prices: PriceList | undefined }) {
  const own = prices?.data.filter((price) => price.model === model.id) ?? [];
  const lines = own.flatMap((price) => describePrice(price, prices?.currency ?? "USD"));
  return (
    <div className="flex min-h-11 flex-col gap-1 text-sm text-ink-soft lg:pt-7">
      <p>
        {model.description}{" "}
        <Link to="/console/models/$" params={{ _splat: model.id }} className="text-accent underline underline-offset-2">
          About this model
        </Link>
      </p>
      <p className="flex min-h-5.5 flex-wrap gap-x-4 tabular-nums">
        {lines.map(({ name, text }) => (
          <span key={`${name} ${text}`} className="whitespace-nowrap">
            {name !== null && `${name} `}
            {text}
          </span>
        ))}
      </p>
    </div>
  );
}

type WorkspaceProps = { model: ModelDetail; prices: PriceList; isCodeShown: boolean };

function Workspace({ model, prices, isCodeShown }: WorkspaceProps) {
  if (model.type === "embedding") return <ApiOnly model={model} says="It answers with vectors." />;
  if (model.type === "transcription") return <ApiOnly model={model} says="It takes a recording and writes it down." />;
  return isMedia(model) ? (
    <MediaWorkspace model={model} prices={prices} isCodeShown={isCodeShown} />
  ) : (
    <ChatWorkspace model={model} currency={prices.currency} isCodeShown={isCodeShown} />
  );
}

function isMedia(model: ModelDetail): model is ModelDetail & { type: MediaType } {
  return model.type !== "chat" && model.type !== "embedding" && model.type !== "transcription";
}

/** What is for programs, and for nobody to look at here. */
function ApiOnly({ model, says }: { model: ModelDetail; says: string }) {
  return (
    <EmptyState title="This model is for the API">
      {says}{" "}
      <Link to="/console/models/$" params={{ _splat: model.id }} className="text-accent underline underline-offset-2">
        Its page
      </Link>{" "}
      has a first call to paste.
    </EmptyState>
  );
}
