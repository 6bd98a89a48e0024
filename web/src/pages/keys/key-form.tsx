import { type ReactNode, useState } from "react";
import type { ApiKey } from "../../api/fetch-keys.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { CheckField } from "../../design/check-field.tsx";
import { CheckList } from "../../design/check-list.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useFormDraft } from "../../parts/forms/use-form-draft.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { type KeyBody, type KeyFieldProps, type KeyProblems, type KeyValues, readKeyValues } from "./key-fields.ts";
import { describeDays, endpointNames, type LimitName, limitNames, periodNames } from "./key-labels.ts";

type KeyFormProps<Output> = {
  /** `null` for a new key. */
  apiKey: ApiKey | null;
  initial: KeyValues;
  submitName: string;
  send(body: KeyBody): Promise<Output>;
  onDone(output: Output): void;
  onGivenUp(): void;
};

const fields = ["name", "expires_at", "budget", "models", "endpoints", "addresses", "limits", "content_log"] as const;

/** The draft is stored until saved or canceled. */
export function KeyForm<Output>({ apiKey, initial, submitName, send, onDone, onGivenUp }: KeyFormProps<Output>) {
  const { time_zone: timeZone } = useSession().account;
  const draft = useFormDraft(`key:${apiKey?.id ?? "new"}`, initial);
  const [problems, setProblems] = useState<KeyProblems>({});
  const action = useAction(send, (output) => {
    draft.forget();
    onDone(output);
  });
  const submit = () => {
    const read = readKeyValues(draft.values, { now: new Date(), timeZone });
    setProblems(read.problems ?? {});
    if (read.body !== null) action.run(read.body);
  };
  const errorAt = (field: string) => problems[field] ?? action.errorAt(field);
  const field: KeyFieldProps = { values: draft.values, change: draft.change, errorAt };
  const kind = apiKey?.kind ?? "secret";
  return (
    <form
      noValidate
      className="flex flex-col gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <FormError message={action.errorBeside(...fields)} />
      {kind === "secret" && (
        <TextField
          label="Name"
          name="name"
          maxLength={100}
          placeholder="Production server"
          hint="Where the key is used, so that you recognize it later."
          value={draft.values.name}
          onChange={(name) => draft.change({ name })}
          error={errorAt("name")}
        />
      )}
      {kind !== "console" && <ExpiryFields {...field} expiresAt={apiKey?.expires_at ?? null} timeZone={timeZone} />}
      <BudgetFields {...field} />
      <MoreLimits isOpenAtFirst={hasMore(initial)} hasProblem={hasHiddenProblem(errorAt)}>
        {kind !== "console" && <RestrictionFields {...field} />}
        <LimitFields {...field} />
      </MoreLimits>
      <KeyContentField {...field} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button
          onClick={() => {
            draft.forget();
            onGivenUp();
          }}
        >
          Cancel
        </Button>
        <Button look="primary" type="submit" isBusy={action.isBusy}>
          {submitName}
        </Button>
      </div>
    </form>
  );
}

function hasMore(values: KeyValues): boolean {
  const { requests_per_minute, tokens_per_minute, concurrent_requests, tasks_in_flight } = values;
  const texts = [requests_per_minute, tokens_per_minute, concurrent_requests, tasks_in_flight, values.addresses];
  return values.isModelsLimited || values.isEndpointsLimited || texts.some((text) => text !== "");
}

function hasHiddenProblem(errorAt: (field: string) => string | null): boolean {
  const hidden = ["models", "endpoints", "addresses", "limits"];
  const limits = ["requests_per_minute", "tokens_per_minute", "concurrent_requests", "tasks_in_flight"];
  return [...hidden, ...limits.map((name) => `limits.${name}`)].some((name) => errorAt(name) !== null);
}

type MoreLimitsProps = { isOpenAtFirst: boolean; hasProblem: boolean; children: ReactNode };

/** Collapsed by default, but opened if it contains an error. */
function MoreLimits({ isOpenAtFirst, hasProblem, children }: MoreLimitsProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <details
      open={isOpen || hasProblem}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-md border border-line"
    >
      <summary className="rounded-md px-4 py-3 text-sm font-medium hover:bg-sunken">More limits</summary>
      <div className="flex flex-col gap-6 border-t border-line p-4">{children}</div>
    </details>
  );
}

const spans: readonly { value: string; label: string }[] = [
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
  { value: "date", label: "On a date" },
];

type ExpiryFieldsProps = KeyFieldProps & { expiresAt: string | null; timeZone: string };

function ExpiryFields({ values, change, errorAt, expiresAt, timeZone }: ExpiryFieldsProps) {
  const kept = expiresAt === null ? [] : [{ value: "keep", label: `Keep: ${formatMoment(expiresAt, timeZone)}` }];
  const hasDate = values.expiry === "date";
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="Expires"
        name="expires_at"
        options={[...kept, { value: "never", label: "Never" }, ...spans]}
        value={values.expiry}
        onChange={(expiry) => change({ expiry })}
        error={hasDate ? null : errorAt("expires_at")}
      />
      {hasDate && (
        <TextField
          type="date"
          label="Last day"
          name="expiry_date"
          value={values.expiryDate}
          onChange={(expiryDate) => change({ expiryDate })}
          hint={`Until the end of the day in ${timeZone}.`}
          error={errorAt("expires_at")}
        />
      )}
    </div>
  );
}

function BudgetFields({ values, change, errorAt }: KeyFieldProps) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  return (
    <div className="flex flex-col gap-1.5">
      <div className="grid grid-cols-2 gap-4">
        <TextField
          label={`Budget${site === undefined ? "" : ` in ${site.currency}`}`}
          name="budget_amount"
          inputMode="decimal"
          autoComplete="off"
          maxLength={20}
          placeholder="No budget"
          value={values.budgetAmount}
          onChange={(budgetAmount) => change({ budgetAmount })}
          error={errorAt("budget")}
        />
        <SelectField
          label="For"
          name="budget_period"
          options={Object.entries(periodNames).map(([value, label]) => ({ value, label }))}
          value={values.budgetPeriod}
          onChange={(budgetPeriod) => change({ budgetPeriod })}
        />
      </div>
      <p className="text-sm text-ink-soft">
        When it is spent, calls with this key are refused. Days, weeks and months begin at midnight UTC.
      </p>
    </div>
  );
}

/** Hidden if the service stores no contents. */
function KeyContentField({ values, change, errorAt }: KeyFieldProps) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const days = site?.content_log_days ?? 0;
  if (days === 0 && !values.logsContent) return null;
  const error = errorAt("content_log");
  return (
    <div className="flex flex-col gap-1">
      <CheckField
        name="content_log"
        label="Log request and response content"
        isChecked={values.logsContent}
        onChange={(logsContent) => change({ logsContent })}
        hint={`Stored encrypted for ${describeDays(days)}, with keys and passwords redacted. All users of this account can read it. So can API keys with access to all endpoints or “Contents of requests”.`}
      />
      {error !== null && (
        <p role="alert" className="pl-6.5 text-sm text-danger">
          <InlineCodeText text={error} />
        </p>
      )}
    </div>
  );
}

function RestrictionFields({ values, change, errorAt }: KeyFieldProps) {
  const { data: models } = useTableQuery(queryTable.models.list());
  // List selected models that no longer exist, so they can be unchecked.
  const modelIds = new Set([...(models?.data ?? []).map(({ id }) => id), ...values.models]);
  return (
    <>
      <CheckList
        legend="Models"
        allLabel="All models of the account"
        isLimited={values.isModelsLimited}
        onLimit={(isModelsLimited) => change({ isModelsLimited })}
        options={[...modelIds].map((id) => ({ value: id, label: id }))}
        chosen={values.models}
        onChoose={(chosen) => change({ models: chosen })}
        error={errorAt("models")}
      />
      <CheckList
        legend="Endpoints"
        allLabel="All endpoints"
        isLimited={values.isEndpointsLimited}
        onLimit={(isEndpointsLimited) => change({ isEndpointsLimited })}
        options={Object.entries(endpointNames).map(([value, label]) => ({ value, label }))}
        chosen={values.endpoints}
        onChoose={(endpoints) => change({ endpoints })}
        error={errorAt("endpoints")}
      />
      <TextArea
        label="Addresses"
        name="addresses"
        rows={2}
        maxLength={10_000}
        placeholder="Any address"
        spellCheck={false}
        className="font-mono text-sm"
        hint="IP addresses or networks such as 203.0.113.0/24, one per line. Leave empty to allow any address."
        value={values.addresses}
        onChange={(addresses) => change({ addresses })}
        error={errorAt("addresses")}
      />
    </>
  );
}

/** Rate limits. The account's limits apply as well. */
function LimitFields({ values, change, errorAt }: KeyFieldProps) {
  const { data: account } = useTableQuery(queryTable.account.own());
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {Object.entries(limitNames).map(([name, label]) => {
        // Object.entries widens the names.
        const limit = name as LimitName;
        return (
          <TextField
            key={name}
            label={label}
            name={name}
            inputMode="numeric"
            autoComplete="off"
            maxLength={12}
            placeholder={account === undefined ? "" : `Account limit: ${formatCount(account.limits[limit])}`}
            value={values[limit]}
            onChange={(text) => change({ [limit]: text })}
            error={errorAt(`limits.${name}`)}
          />
        );
      })}
    </div>
  );
}
