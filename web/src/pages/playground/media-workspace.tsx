import { useState } from "react";
import type { ModelDetail, PriceList } from "../../api/ask-catalog.ts";
import { ApiError } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { estimateCharge } from "./estimate-charge.ts";
import { MediaFieldView } from "./media-field-view.tsx";
import { listMediaFields, type MediaField, type MediaType } from "./media-fields.ts";
import { buildMediaBody, type MediaProblems, type MediaValue, type MediaValues, parseValues } from "./media-values.ts";
import { RequestCode } from "./request-code.tsx";
import { findFieldError, RequestFailure } from "./request-failure.tsx";
import { TaskRun } from "./task-run.tsx";
import { useKeptState } from "./use-kept-state.ts";
import { useSubmission } from "./use-submission.ts";
import { WebhookNeeded } from "./webhook-needed.tsx";

type MediaWorkspaceProps = { model: ModelDetail & { type: MediaType }; prices: PriceList; isCodeShown: boolean };

const keptValues = { parse: parseValues };
const keptTaskId = { parse: (stored: unknown) => (typeof stored === "string" ? stored : null) };

/** A form from the model's own limits, and beside it what comes of it. Models of one type share what was typed. */
export function MediaWorkspace({ model, prices, isCodeShown }: MediaWorkspaceProps) {
  const fields = listMediaFields(model);
  const [values, setValues] = useKeptState<MediaValues>(`form:${model.type}`, keptValues);
  const [taskId, setTaskId] = useKeptState<string | null>(`task:${model.type}`, keptTaskId);
  const [isChecked, setChecked] = useState(false);
  const submission = useSubmission((task) => {
    setChecked(false);
    setTaskId(task.id);
  });
  const { body, problems } = buildMediaBody(model.id, fields, values);
  const estimate = estimateCharge(prices.data, { model, body, values });
  const shownProblems: MediaProblems = isChecked ? problems : {};
  const errorAt = (name: string) => shownProblems[name] ?? findFieldError(submission.error, name);
  const change = (name: string, value: MediaValue) => setValues((last) => ({ ...last, [name]: value }));
  const submit = () => {
    setChecked(true);
    submission.reset();
    if (Object.keys(problems).length === 0) submission.submit({ type: model.type, body });
  };
  const isToldAtField = fields.some(({ name }) => findFieldError(submission.error, name) !== null);
  return (
    <div className="flex flex-col gap-8">
      {isCodeShown && <RequestCode type={model.type} body={body} />}
      <div className="grid gap-x-10 gap-y-8 xl:grid-cols-2">
        <form
          noValidate
          aria-label={`Request to ${model.name}`}
          className="flex min-w-0 flex-col gap-5"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Fields fields={fields} values={values} errorAt={errorAt} onChange={change} />
          {submission.error !== null && !isToldAtField && (
            <SubmissionFailure error={submission.error} onRetry={submit} />
          )}
          <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
            <Button type="submit" look="primary" isBusy={submission.isBusy}>
              Generate
            </Button>
            {estimate !== null && (
              <p className="text-sm text-ink-soft tabular-nums">
                {estimate.isMost ? "Costs at most " : "Costs "}
                <span className="font-medium text-ink">{formatMoney(estimate.amount, prices.currency)}</span>
              </p>
            )}
          </div>
        </form>
        <div className="min-w-0">
          {taskId === null ? (
            <EmptyState title="Output appears here" />
          ) : (
            <TaskRun key={taskId} taskId={taskId} currency={prices.currency} />
          )}
        </div>
      </div>
    </div>
  );
}

type FieldsProps = {
  fields: readonly MediaField[];
  values: MediaValues;
  errorAt(name: string): string | null;
  onChange(name: string, value: MediaValue): void;
};

/** What is short stands side by side. */
function Fields({ fields, values, errorAt, onChange }: FieldsProps) {
  return (
    <div className="grid items-start gap-5 sm:grid-cols-2">
      {fields.map((field) => (
        <div key={field.name} className={field.kind === "choice" || field.kind === "number" ? "" : "sm:col-span-2"}>
          <MediaFieldView
            field={field}
            values={values}
            error={errorAt(field.name)}
            onChange={(value) => onChange(field.name, value)}
          />
        </div>
      ))}
    </div>
  );
}

function SubmissionFailure({ error, onRetry }: { error: Error; onRetry(): void }) {
  if (error instanceof ApiError && error.code === "webhook_required") return <WebhookNeeded onOpened={onRetry} />;
  return <RequestFailure error={error} onRetry={onRetry} />;
}
