import { useRef, useState } from "react";
import type { Model, ModelDetail, PriceList } from "../../api/fetch-catalog.ts";
import { isOver, type Task, type TaskOutput } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { AvatarSamples } from "./avatar-samples.tsx";
import { DropArea } from "./drop-area.tsx";
import { findFileField, findTextField } from "./drop-target.ts";
import { applyQuote, estimateCharge } from "./estimate-charge.ts";
import { EstimateLine } from "./estimate-line.tsx";
import { ExampleList } from "./example-list.tsx";
import { type Example, listExamples } from "./examples.ts";
import type { Dropped } from "./file-field.tsx";
import { keepOutput } from "./kept-file.ts";
import { type InputUse, listInputUses } from "./list-input-uses.ts";
import { MediaFieldList } from "./media-field-list.tsx";
import { listMediaFields, type MediaType, mediaPaths } from "./media-fields.ts";
import { buildMediaBody, type KeptFile, type MediaProblems, type MediaValue } from "./media-values.ts";
import { MissingCredit } from "./missing-credit.tsx";
import { QuoteFailure } from "./quote-line.tsx";
import { RequestCode } from "./request-code.tsx";
import { findFieldError, RequestFailure } from "./request-failure.tsx";
import { RunHistory } from "./run-history.tsx";
import { StoryboardEditor } from "./storyboard-editor.tsx";
import { TaskRun } from "./task-run.tsx";
import type { Form } from "./use-forms.ts";
import { useQuote } from "./use-quote.ts";
import { useSubmission } from "./use-submission.ts";

/** Its menu is only needed for an output. */
const UseAsInput = lazyPart(async () => (await import("./use-as-input.tsx")).UseAsInput);

export type FormControls = Form & {
  onChange(name: string, value: MediaValue): void;
  onFill(values: Form["values"]): void;
  onShow(taskId: string | null): void;
};

type MediaWorkspaceProps = {
  model: ModelDetail & { type: MediaType };
  models: readonly Model[];
  prices: PriceList;
  isCodeShown: boolean;
  form: FormControls;
  /** Uses an output as input of a form, possibly another one. */
  onUse(use: InputUse, file: KeptFile): void;
  /** Fills the form with a task's request. */
  onEditRun(taskId: string): void;
};

/** A form built from the model's limits, and the canvas. Models of one type share the typed values. */
export function MediaWorkspace({ model, models, prices, isCodeShown, form, onUse, onEditRun }: MediaWorkspaceProps) {
  const { values, taskId, onChange, onShow } = form;
  const fields = listMediaFields(model);
  const canvas = useRef<HTMLDivElement>(null);
  const [isChecked, setChecked] = useState(false);
  const [dropped, setDropped] = useState<(Dropped & { name: string }) | null>(null);
  const submission = useSubmission((task) => {
    setChecked(false);
    onShow(task.id);
    canvas.current?.scrollIntoView({ block: "nearest" });
  });
  const { body, problems } = buildMediaBody(model.id, fields, values);
  const isComplete = Object.keys(problems).length === 0;
  const price = useQuote(mediaPaths[model.type], isComplete ? body : null);
  const estimate = applyQuote(
    estimateCharge(prices.data, { model, body, values }),
    price.quote?.model === model.id ? price.quote : null,
  );
  const shownProblems: MediaProblems = isChecked ? problems : {};
  const errorAt = (name: string) => shownProblems[name] ?? findFieldError(submission.error, name);
  const submit = () => {
    setChecked(true);
    submission.reset();
    if (isComplete) submission.submit({ type: model.type, body, quoteId: price.findId() });
  };
  const drop = async (files: File[], kept: KeptFile | null) => {
    const [first] = files;
    const textField = first === undefined ? null : findTextField(fields, first);
    if (first !== undefined && textField !== null) return onChange(textField, await first.text());
    const target = findFileField(fields, values, kept?.contentType ?? first?.type ?? "");
    if (target !== null) setDropped({ name: target.name, files, kept });
  };
  const isShownAtField = fields.some(({ name }) => findFieldError(submission.error, name) !== null);
  return (
    <DropArea onFiles={(files) => void drop(files, null)} onKept={(kept) => void drop([], kept)}>
      <div className="flex flex-col gap-8">
        {isCodeShown && <RequestCode type={model.type} body={body} />}
        <div className="grid items-start gap-x-8 gap-y-8 xl:grid-cols-[22rem_minmax(0,1fr)]">
          <form
            noValidate
            aria-label={`Request to ${model.name}`}
            className="flex min-w-0 flex-col gap-5"
            onSubmit={(event) => {
              event.preventDefault();
              submit();
            }}
          >
            <MediaFieldList fields={fields} values={values} dropped={dropped} errorAt={errorAt} onChange={onChange} />
            {submission.error !== null && !isShownAtField && (
              <RequestFailure error={submission.error} onRetry={submit} />
            )}
            <MissingCredit type={model.type} estimates={[estimate]} />
            <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
              <Button type="submit" look="primary" isBusy={submission.isBusy}>
                Generate
              </Button>
              <EstimateLine estimate={estimate} currency={prices.currency} />
            </div>
            {price.error !== null && (
              <p className="text-sm text-ink-soft">
                <QuoteFailure error={price.error} />
              </p>
            )}
          </form>
          <div ref={canvas} className="flex min-w-0 scroll-mt-4 flex-col gap-6">
            {taskId === null ? (
              <EmptyCanvas model={model} onChoose={({ values: given }) => form.onFill({ ...values, ...given })} />
            ) : (
              <Canvas {...{ model, models, prices, taskId, onUse, onEditRun, onShow }} />
            )}
            <RunHistory type={model.type} shownId={taskId} onShow={onShow} />
          </div>
        </div>
      </div>
    </DropArea>
  );
}

function EmptyCanvas({ model, onChoose }: { model: ModelDetail; onChoose(example: Example): void }) {
  const examples = listExamples(model);
  return (
    <div className="flex flex-col gap-6">
      <div className="flex min-h-80 flex-col items-center justify-center gap-2 rounded-lg border border-dashed border-line-strong bg-sunken px-6 text-center">
        <p className="font-medium">Output appears here</p>
        {model.type === "avatar" && (
          <p className="text-sm text-ink-soft">Choose an image and a voice from your files, or start with a sample.</p>
        )}
      </div>
      {model.type === "avatar" && <AvatarSamples onFill={(values) => onChoose({ name: "Sample", values })} />}
      <ExampleList
        examples={examples}
        describe={({ values }) =>
          [values.prompt, values.input, values.script].find((text) => typeof text === "string") ?? ""
        }
        onChoose={onChoose}
      />
    </div>
  );
}

type CanvasProps = Pick<MediaWorkspaceProps, "model" | "models" | "prices" | "onUse" | "onEditRun"> & {
  taskId: string;
  onShow(taskId: string): void;
};

function Canvas({ model, models, prices, taskId, onUse, onEditRun, onShow }: CanvasProps) {
  const actionsOf = (output: TaskOutput, name: string) => (
    <UseAsInput
      name={name}
      uses={listInputUses(output.content_type, models, model.id)}
      onUse={(use) => onUse(use, keepOutput(output, name))}
    />
  );
  return (
    <TaskRun key={taskId} taskId={taskId} currency={prices.currency} actionsOf={actionsOf}>
      {(task) => (
        <>
          <RunRequest taskId={taskId} onEdit={() => onEditRun(taskId)} />
          <StoryboardOf {...{ task, model, models, prices, onShow }} />
        </>
      )}
    </TaskRun>
  );
}

type StoryboardOfProps = Pick<CanvasProps, "model" | "models" | "prices" | "onShow"> & { task: Task };

/** The storyboard of a finished drama, from which the video can be made again. */
function StoryboardOf({ task, model, models, prices, onShow }: StoryboardOfProps) {
  const board = task.output.find(({ type }) => type === "storyboard");
  const isKept = board !== undefined && Date.parse(board.expires_at) > Date.now();
  if (!isKept || !isOver(task) || !model.capabilities.includes("drama_video")) return null;
  return <StoryboardEditor {...{ task, model, models, prices, onShow }} fileId={board.file_id} />;
}

const textsFirst = ["title", "prompt", "input", "script"];
const charactersMax = 400;

/** The shown task's request, with a button that restores it into the form. */
function RunRequest({ taskId, onEdit }: { taskId: string; onEdit(): void }) {
  const { data, error, refetch } = useTableQuery(queryTable.tasks.request(taskId));
  if (error !== null) return <LoadFailure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton className="h-16" />;
  const body = data.body as Record<string, unknown>;
  const texts = textsFirst.flatMap((name) => (typeof body[name] === "string" ? [String(body[name])] : []));
  const facts = Object.entries(body).filter(
    ([name, value]) =>
      name !== "model" && !textsFirst.includes(name) && !name.endsWith("_file_id") && typeof value !== "object",
  );
  return (
    <section aria-label="Request" className="flex flex-col gap-2 rounded-lg border border-line bg-surface p-4 text-sm">
      {texts.map((text) => (
        <p key={text} className="line-clamp-4 whitespace-pre-line">
          {text.slice(0, charactersMax)}
        </p>
      ))}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-soft">
        <code className="font-mono">{String(body.model)}</code>
        {facts.map(([name, value]) => (
          <span key={name}>
            {name.replaceAll("_", " ")} {String(value)}
          </span>
        ))}
        <Button look="quiet" className="-mr-2 ml-auto" onClick={onEdit}>
          Edit and run again
        </Button>
      </div>
    </section>
  );
}
