import type { LoggedRequest } from "../../api/fetch-requests.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { ChoiceField } from "../../design/choice-field.tsx";
import { DayField } from "../../design/day-field.tsx";
import { Icon } from "../../design/icon.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { findDay } from "../../parts/format/calendar-days.ts";
import { formatInstant, nameWire } from "./request-labels.ts";
import { periods, type RequestsSearch, type RequestsView, writePeriod } from "./requests-view.ts";

type RequestFiltersProps = {
  view: RequestsView;
  timeZone: string;
  /** Error codes in the log, most frequent first. */
  errorCodes: readonly string[];
  onChange(part: RequestsSearch): void;
};

const statuses = [
  { value: "", label: "Any status" },
  { value: "2xx", label: "2xx Succeeded" },
  { value: "4xx", label: "4xx Rejected" },
  { value: "5xx", label: "5xx Failed" },
  { value: "429", label: "429 Rate limited" },
  { value: "402", label: "402 No credit" },
  { value: "499", label: "499 Client closed request" },
];

/** APIs in display order; read-only ones last. */
const wires: readonly NonNullable<LoggedRequest["wire"]>[] = [
  ...(["chat", "responses", "messages", "completions", "embeddings"] as const),
  ...(["images", "videos", "avatars", "dramas", "speech", "transcriptions"] as const),
  ...(["tasks", "files", "webhooks", "models", "pricing", "balance", "usage", "requests"] as const),
];

export function RequestFilters({ view, timeZone, errorCodes, onChange }: RequestFiltersProps) {
  const { data: models } = useTableQuery(queryTable.models.list());
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const { from, to, model, key_id: keyId, status, error_code: errorCode, wire } = view.filter;
  const modelIds = withChosen(model, models?.data.map(({ id }) => id) ?? []);
  const codes = withChosen(errorCode, errorCodes);
  const keys = new Map([...(keyId === undefined ? [] : [[keyId, keyId] as const]), ...(keyNames ?? [])]);
  const known = withChosen(
    status,
    statuses.map(({ value }) => value),
  );
  const today = findDay(new Date(), timeZone);
  return (
    <search className="grid grid-cols-2 gap-3 sm:flex sm:flex-wrap sm:items-start">
      {view.period === "span" && from !== undefined && to !== undefined ? (
        <Button onClick={() => onChange(writePeriod("24h"))} aria-label="Clear time range">
          {formatInstant(from, timeZone)} – {formatInstant(to, timeZone)}
          <Icon name="close" className="size-3" />
        </Button>
      ) : (
        <SelectField
          label="Period"
          isCompact
          value={view.period}
          onChange={(period) => onChange(writePeriod(period, today))}
          options={[
            ...periods.map(({ id, name }) => ({ value: id, label: name })),
            { value: "own", label: "Custom range" },
          ]}
        />
      )}
      {view.days !== null && (
        <>
          <DayField
            label="First day"
            value={view.days.first}
            max={today}
            error={view.days.last < view.days.first ? "Choose a last day after the first day." : null}
            onChange={(from) => from !== "" && onChange({ from })}
          />
          <DayField
            label="Last day"
            value={view.days.last}
            max={today}
            onChange={(to) => to !== "" && onChange({ to })}
          />
        </>
      )}
      <SelectField
        label="Status"
        isCompact
        value={status ?? ""}
        onChange={(value) => onChange({ status: value })}
        options={known.map((value) => statuses.find((each) => each.value === value) ?? { value, label: value })}
      />
      <ChoiceField
        label="Model"
        value={model ?? ""}
        onChange={(value) => onChange({ model: value })}
        options={[{ value: "", label: "Any model" }, ...modelIds.map((id) => ({ value: id, label: id }))]}
      />
      <ChoiceField
        label="Key"
        value={keyId ?? ""}
        onChange={(key) => onChange({ key })}
        options={[{ value: "", label: "Any key" }, ...[...keys].map(([value, label]) => ({ value, label }))]}
      />
      <SelectField
        label="API"
        isCompact
        value={wire ?? ""}
        onChange={(value) => onChange({ wire: value })}
        options={[{ value: "", label: "Any API" }, ...wires.map((value) => ({ value, label: nameWire(value) }))]}
      />
      {codes.length > 0 && (
        <SelectField
          label="Error code"
          isCompact
          value={errorCode ?? ""}
          onChange={(error) => onChange({ error })}
          options={[{ value: "", label: "Any error code" }, ...codes.map((value) => ({ value, label: value }))]}
        />
      )}
    </search>
  );
}

/** Keeps the current value among the options, even if it is no longer offered. */
function withChosen(chosen: string | undefined, offered: readonly string[]): string[] {
  return [...new Set(chosen === undefined ? offered : [...offered, chosen])];
}
