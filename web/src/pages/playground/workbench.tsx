import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Model, PriceList } from "../../api/fetch-catalog.ts";
import { getFile } from "../../api/fetch-files.ts";
import { getTask, getTaskRequest } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { nameCapability } from "../../parts/format/model-labels.ts";
import { ComparedModels } from "./compared-models.tsx";
import { comparedMax } from "./comparison.ts";
import { ComparisonWorkspace, canCompare } from "./comparison-workspace.tsx";
import { FilePreview } from "./file-preview.tsx";
import { keepStored } from "./kept-file.ts";
import { type InputUse, listInputUses, placeInput } from "./list-input-uses.ts";
import type { MediaType } from "./media-fields.ts";
import type { KeptFile, MediaValues } from "./media-values.ts";
import { ModelPicker } from "./model-picker.tsx";
import { listRequestFiles, readRequest } from "./request-values.ts";
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

/** The picker shows the price. */
function ModelSummary({ model }: { model: Model }) {
  return (
    <div className="flex min-h-11 flex-col gap-1 text-sm text-ink-soft lg:pt-7">
      <p>
        {model.description}{" "}
        <Link to="/console/models/$" params={{ _splat: model.id }} className="text-accent underline underline-offset-2">
          About this model
        </Link>
      </p>
      <p className="text-xs">{model.capabilities.map(nameCapability).join(" · ")}</p>
    </div>
  );
}

/** A request as form values, and how many of its files have expired. */
type OpenedRequest = { type: MediaType; model: string; taskId: string; values: MediaValues; missing: number };

/** A task's request, with the files that still exist. */
async function openRequest(taskId: string): Promise<OpenedRequest> {
  const [task, request] = await Promise.all([getTask(taskId), getTaskRequest(taskId)]);
  const body = request.body as Record<string, unknown>;
  const ids = [...new Set(listRequestFiles(body))];
  const found = await Promise.all(ids.map(async (id) => [id, await findFile(id)] as const));
  const files = new Map(found);
  return {
    type: task.type,
    model: task.model,
    taskId,
    values: readRequest(body, (id) => files.get(id) ?? null),
    missing: found.filter(([, file]) => file === null).length,
  };
}

/** `null` for an expired file, or for an external URL, which the form does not accept. */
async function findFile(id: string): Promise<KeptFile | null> {
  if (!id.startsWith("file_")) return null;
  return await getFile(id).then(keepStored, () => null);
}

type ChosenInputProps = {
  fileId: string;
  models: readonly Model[];
  chosenId: string;
  onUse(use: InputUse, file: KeptFile): void;
  onClose(): void;
};

/** A file passed in the URL, with the forms it can be used in. */
function ChosenInput({ fileId, models, chosenId, onUse, onClose }: ChosenInputProps) {
  const { data, error, refetch } = useTableQuery(queryTable.files.one(fileId));
  if (error !== null) {
    return <LoadFailure title="Could not load the file." error={error} onRetry={() => void refetch()} />;
  }
  if (data === undefined) return <Skeleton className="h-24" />;
  const file = keepStored(data);
  const uses = listInputUses(file.contentType, models, chosenId);
  return (
    <section
      aria-label="Use as input"
      className="flex flex-wrap items-center gap-4 rounded-lg border border-accent bg-accent-soft p-4"
    >
      <FilePreview file={file} frame="size-16 shrink-0 rounded-md border border-line bg-sunken object-cover" />
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        <p className="text-sm font-medium">
          {uses.length === 0 ? "No model of your account accepts this file" : "Use this file as"}
        </p>
        <div className="flex flex-wrap gap-2">
          {uses.map((use) => (
            <Button key={`${use.type} ${use.field}`} onClick={() => onUse(use, file)}>
              {use.label}
            </Button>
          ))}
          <Button look="quiet" onClick={onClose}>
            Not now
          </Button>
        </div>
      </div>
    </section>
  );
}
