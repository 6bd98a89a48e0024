import { useRef, useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { Model, ModelDetail, PriceList } from "../../api/fetch-catalog.ts";
import { isOver, type TaskOutput } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQueries } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { ModelLogo } from "../../parts/records/model-logo.tsx";
import { gridOf } from "./compare-grid.ts";
import { type Estimate, estimateCharge } from "./estimate-charge.ts";
import { EstimateLine } from "./estimate-line.tsx";
import { ExampleList } from "./example-list.tsx";
import { listExamples } from "./examples.ts";
import { listIgnoredValues, mergeFields } from "./fit-settings.ts";
import { keepOutput } from "./kept-file.ts";
import { type InputUse, listInputUses } from "./list-input-uses.ts";
import { MediaFieldList } from "./media-field-list.tsx";
import { listMediaFields, type MediaType } from "./media-fields.ts";
import { buildMediaBody, type KeptFile, type MediaProblems, type MediaValues } from "./media-values.ts";
import type { FormControls } from "./media-workspace.tsx";
import { MissingCredit } from "./missing-credit.tsx";
import { fromNano, toNano } from "./nano-amount.ts";
import { findFieldError, RequestFailure } from "./request-failure.tsx";
import { TaskRun } from "./task-run.tsx";
import { useStoredState } from "./use-stored-state.ts";
import { createSubmitter, type Submission } from "./use-submission.ts";

/** Its menu is only needed for an output. */
const UseAsInput = lazyPart(async () => (await import("./use-as-input.tsx")).UseAsInput);

type MediaModel = ModelDetail & { type: MediaType };
type MediaComparisonProps = {
  models: readonly [MediaModel, ...MediaModel[]];
  all: readonly Model[];
  prices: PriceList;
  form: Pick<FormControls, "values" | "onChange" | "onFill">;
  onUse(use: InputUse, file: KeptFile): void;
};

const keptTasks = {
  // Only this page writes it.
  parse: (stored: unknown) => (typeof stored === "object" && stored !== null ? (stored as Record<string, string>) : {}),
};

/** One form for several models, with their outputs side by side. */
export function MediaComparison({ models, all, prices, form, onUse }: MediaComparisonProps) {
  const [{ type }] = models;
  const { values, onChange } = form;
  const [tasks, setTasks] = useStoredState(`compared:${type}`, keptTasks);
  const [isChecked, setChecked] = useState(false);
  const submissions = useSubmissions((model, taskId) => setTasks((last) => ({ ...last, [model]: taskId })));
  const shared = mergeFields(models.map(listMediaFields));
  const plans = models.map((model) => planModel(model, { values, prices }));
  const problems: MediaProblems = Object.assign({}, ...plans.map((plan) => plan.problems));
  const errorAt = (name: string) =>
    (isChecked ? problems[name] : undefined) ??
    models.map(({ id }) => findFieldError(submissions.errorOf(id), name)).find((error) => error !== null) ??
    null;
  const submit = () => {
    setChecked(true);
    if (Object.keys(problems).length > 0) return;
    setChecked(false);
    setTasks({});
    for (const { model, body } of plans) submissions.submit(model.id, { type, body });
  };
  const shownIds = models.flatMap(({ id }) => tasks[id] ?? []);
  return (
    <div className="flex flex-col gap-8">
      <form
        noValidate
        aria-label={`Request to ${models.length} models`}
        className="flex min-w-0 max-w-3xl flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <MediaFieldList fields={shared} values={values} errorAt={errorAt} onChange={onChange} />
        <MissingCredit type={type} estimates={plans.map(({ estimate }) => estimate)} />
        <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
          <Button type="submit" look="primary" isBusy={submissions.isBusy}>
            Generate with {models.length} models
          </Button>
          <StopAll taskIds={shownIds} />
          <Total estimates={plans.map(({ estimate }) => estimate)} currency={prices.currency} />
        </div>
      </form>
      {shownIds.length === 0 && (
        <ExampleList
          examples={listExamples(models[0])}
          describe={({ values: given }) => String(given.prompt ?? given.input ?? "")}
          onChoose={({ values: given }) => form.onFill({ ...values, ...given })}
        />
      )}
      <div className={gridOf(models.length)}>
        {plans.map((plan) => (
          <Column
            key={plan.model.id}
            {...{ plan, all, onUse }}
            shared={shared}
            values={values}
            currency={prices.currency}
            taskId={tasks[plan.model.id] ?? null}
            error={submissions.errorOf(plan.model.id)}
            onRetry={() => submissions.submit(plan.model.id, { type, body: plan.body })}
          />
        ))}
      </div>
    </div>
  );
}

type Plan = {
  model: MediaModel;
  body: Record<string, unknown>;
  problems: MediaProblems;
  estimate: Estimate | null;
};

function planModel(model: MediaModel, { values, prices }: { values: MediaValues; prices: PriceList }): Plan {
  const { body, problems } = buildMediaBody(model.id, listMediaFields(model), values);
  return { model, body, problems, estimate: estimateCharge(prices.data, { model, body, values }) };
}

/** The total cost, if known for each model. */
function Total({ estimates, currency }: { estimates: readonly (Estimate | null)[]; currency: string }) {
  const known = estimates.filter((estimate) => estimate !== null);
  if (known.length < estimates.length) return null;
  const sum = known.reduce((total, { amount }) => total + toNano(amount), 0n);
  return (
    <p className="text-sm text-ink-soft tabular-nums">
      Costs <span className="font-medium text-ink">{formatMoney(fromNano(sum), currency)}</span> in total
    </p>
  );
}

/** Cancels every unfinished task. */
function StopAll({ taskIds }: { taskIds: readonly string[] }) {
  const tasks = useTableQueries(taskIds.map((id) => queryTable.tasks.one(id)));
  const open = taskIds.filter((_, index) => {
    const task = tasks[index]?.data;
    return task !== undefined && !isOver(task);
  });
  if (open.length === 0) return null;
  const stop = () => {
    for (const id of open) {
      // A task that just ended cannot be canceled, which is fine; the task itself shows other errors.
      ask(api.POST("/tasks/{task_id}/cancel", { params: { path: { task_id: id } }, body: {} })).catch(() => {});
    }
  };
  return <Button onClick={stop}>Stop all</Button>;
}

type ColumnProps = Pick<MediaComparisonProps, "all" | "onUse"> & {
  plan: Plan;
  shared: ReturnType<typeof mergeFields>;
  values: MediaValues;
  currency: string;
  taskId: string | null;
  error: Error | null;
  onRetry(): void;
};

function Column({
  plan: { model, estimate },
  all,
  shared,
  values,
  currency,
  taskId,
  error,
  onRetry,
  onUse,
}: ColumnProps) {
  const remarks = listIgnoredValues(shared, listMediaFields(model), values);
  const actionsOf = (output: TaskOutput, name: string) => (
    <UseAsInput
      name={`${name} of ${model.name}`}
      uses={listInputUses(output.content_type, all, model.id)}
      onUse={(use) => onUse(use, keepOutput(output, name))}
    />
  );
  return (
    <div className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <div className="flex items-center gap-2">
        <ModelLogo model={model} />
        <h2 className="min-w-0 truncate text-sm font-semibold">{model.name}</h2>
      </div>
      {remarks.length > 0 && <p className="text-xs text-ink-soft">{remarks.join(" ")}</p>}
      {error !== null && <RequestFailure error={error} onRetry={onRetry} />}
      {taskId === null ? (
        <EstimateLine estimate={estimate} currency={currency} />
      ) : (
        <TaskRun
          key={taskId}
          taskId={taskId}
          currency={currency}
          label={`Result of ${model.name}`}
          actionsOf={actionsOf}
        />
      )}
    </div>
  );
}

type Submitter = ReturnType<typeof createSubmitter>;

/** Submissions to several models, by model id. Each fails and retries independently. */
function useSubmissions(onSubmitted: (model: string, taskId: string) => void) {
  const submitters = useRef(new Map<string, Submitter>());
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [errors, setErrors] = useState<ReadonlyMap<string, Error>>(new Map());

  async function run(model: string, submission: Submission): Promise<void> {
    const submitOnce = submitters.current.get(model) ?? createSubmitter();
    submitters.current.set(model, submitOnce);
    setBusy((last) => new Set([...last, model]));
    setErrors((last) => new Map([...last].filter(([id]) => id !== model)));
    try {
      onSubmitted(model, (await submitOnce(submission)).id);
    } catch (error) {
      const shown = error instanceof Error ? error : new Error("Something went wrong. Try again.");
      setErrors((last) => new Map([...last, [model, shown]]));
    } finally {
      setBusy((last) => new Set([...last].filter((id) => id !== model)));
    }
  }

  return {
    isBusy: busy.size > 0,
    errorOf: (model: string) => errors.get(model) ?? null,
    submit: (model: string, submission: Submission) => {
      if (!busy.has(model)) void run(model, submission);
    },
  };
}
