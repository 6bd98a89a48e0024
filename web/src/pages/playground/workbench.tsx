import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Model, PriceList } from "../../api/ask-catalog.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { ChosenInput } from "./chosen-input.tsx";
import { ComparedModels } from "./compared-models.tsx";
import { comparedMax } from "./comparison.ts";
import { ComparisonWorkspace, canCompare } from "./comparison-workspace.tsx";
import { type InputUse, placeInput } from "./list-input-uses.ts";
import type { KeptFile } from "./media-values.ts";
import { ModelPicker } from "./model-picker.tsx";
import { ModelSummary } from "./model-summary.tsx";
import { type OpenedRequest, openRequest } from "./open-linked-request.ts";
import { useForms } from "./use-forms.ts";
import { Workspace } from "./workspace.tsx";

type PlaygroundSearch = { model?: string; compare?: string; task?: string; input?: string };

type WorkbenchProps = {
  models: readonly Model[];
  search: PlaygroundSearch;
  onSearch(part: PlaygroundSearch): void;
  isCodeShown: boolean;
};

/** The selected model and its workspace, with the input from the URL. */
export function Workbench({ models, search, onSearch, isCodeShown }: WorkbenchProps) {
  const { model: asked, task, input } = search;
  const forms = useForms();
  const usual = models.find(({ type }) => type === "chat") ?? models[0];
  const chosen = models.find(({ id }) => id === asked) ?? usual;
  const comparedIds = listCompared(models, chosen, search.compare);
  const detail = useTableQuery(queryTable.models.one(chosen?.id ?? ""));
  const prices = useTableQuery(queryTable.models.prices());
  const failure = detail.error ?? prices.error;
  const take = ({ type, model, taskId, values }: OpenedRequest) => {
    forms.fill(type, values);
    forms.show(type, taskId);
    const own = models.find(({ id }) => id === model) ?? models.find((each) => each.type === type);
    onSearch({ model: own?.id ?? model, task: "", input: "", compare: "" });
  };
  const opening = useMutation({ mutationFn: openRequest, onSuccess: take });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per task in the URL.
  useEffect(() => {
    if (task !== undefined) opening.mutate(task);
  }, [task]);
  const use = ({ type, field, modelId }: InputUse, file: KeptFile) => {
    forms.fill(type, placeInput(forms.read(type).values, field, file));
    // The output stays on its own canvas; the other form starts with an empty one.
    if (type !== chosen?.type) forms.show(type, null);
    onSearch({ model: modelId, input: "", compare: "" });
  };
  return (
    <>
      {asked !== undefined && chosen?.id !== asked && (
        <Notice kind="warning">Model {asked} is not available to this account. Another one is selected.</Notice>
      )}
      {opening.error !== null && (
        <LoadFailure
          title="Could not load the task's request."
          error={opening.error}
          onRetry={() => task !== undefined && opening.mutate(task)}
        />
      )}
      <MissingFiles count={opening.data?.missing ?? 0} />
      {input !== undefined && (
        <ChosenInput
          fileId={input}
          models={models}
          chosenId={asked ?? ""}
          onUse={use}
          onClose={() => onSearch({ input: "" })}
        />
      )}
      <ModelBar {...{ models, chosen, comparedIds }} prices={prices.data} onSearch={onSearch} />
      {failure !== null && (
        <LoadFailure error={failure} onRetry={() => void Promise.all([detail.refetch(), prices.refetch()])} />
      )}
      {failure === null && (detail.data === undefined || prices.data === undefined) && <Skeleton className="h-96" />}
      {comparedIds.length > 1 && prices.data !== undefined && (
        <ComparisonWorkspace
          key={chosen?.type}
          ids={comparedIds}
          {...{ models, forms }}
          prices={prices.data}
          onUse={use}
        />
      )}
      {comparedIds.length <= 1 && detail.data !== undefined && prices.data !== undefined && (
        <Workspace
          key={detail.data.type}
          {...{ models, forms, isCodeShown }}
          model={detail.data}
          prices={prices.data}
          onUse={use}
          onEditRun={opening.mutate}
        />
      )}
    </>
  );
}

type ModelBarProps = Pick<WorkbenchProps, "models" | "onSearch"> & {
  prices: PriceList | undefined;
  chosen: Model | undefined;
  comparedIds: readonly string[];
};

function ModelBar({ models, prices, chosen, comparedIds, onSearch }: ModelBarProps) {
  const compare = ([first = "", ...rest]: string[]) => onSearch({ model: first, compare: rest.join(",") });
  if (chosen === undefined) return null;
  const ofType = models.filter(({ type }) => type === chosen.type);
  if (comparedIds.length > 1) {
    return <ComparedModels models={ofType} prices={prices} chosenIds={comparedIds} onChange={compare} />;
  }
  const other = canCompare(models, chosen.type) ? ofType.find(({ id }) => id !== chosen.id) : undefined;
  return (
    <div className="grid items-start gap-x-8 gap-y-4 lg:grid-cols-2">
      <div className="flex min-w-0 flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1">
          <ModelPicker
            models={models}
            prices={prices}
            chosenId={chosen.id}
            onChoose={(model) => onSearch({ model, compare: "" })}
          />
        </div>
        {other !== undefined && (
          <Button className="min-h-14" onClick={() => compare([chosen.id, other.id])}>
            Compare
          </Button>
        )}
      </div>
      <ModelSummary model={chosen} />
    </div>
  );
}

/** The selected model first, then the compared ones of its type. */
function listCompared(models: readonly Model[], chosen: Model | undefined, compare = ""): string[] {
  if (chosen === undefined || !canCompare(models, chosen.type)) return [];
  const named = compare
    .split(",")
    .filter((id) => models.some((model) => model.id === id && model.type === chosen.type));
  return [...new Set([chosen.id, ...named])].slice(0, comparedMax);
}

function MissingFiles({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Notice kind="warning">
      {count === 1 ? "One input file of the request is" : `${count} input files of the request are`} no longer kept.
      Choose {count === 1 ? "another one" : "others"}.
    </Notice>
  );
}
