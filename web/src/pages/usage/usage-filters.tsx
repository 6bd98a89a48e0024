import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { ChoiceField } from "../../design/choice-field.tsx";
import { DayField } from "../../design/day-field.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { dayChoices, type Measure, type UsageSearch, type UsageView } from "./usage-view.ts";

type UsageFiltersProps = { view: UsageView; today: string; onChange(part: UsageSearch): void };

const measureNames: Record<Measure, string> = { charge: "Charge", calls: "Calls", tokens: "Tokens" };

export function UsageFilters({ view, today, onChange }: UsageFiltersProps) {
  const { data: models } = useTableQuery(queryTable.models.list());
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const { model, key_id: keyId } = view.filter;
  const modelIds = new Set([...(model === undefined ? [] : [model]), ...(models?.data ?? []).map(({ id }) => id)]);
  const keys = new Map([...(keyId === undefined ? [] : [[keyId, keyId] as const]), ...(keyNames ?? [])]);
  const chooseDays = (days: string) =>
    onChange(
      days === "own"
        ? { days: "", from: view.first, to: view.last }
        : { days: days === "30" ? "" : days, from: "", to: "" },
    );
  return (
    <search className="flex flex-wrap items-start gap-3">
      <SelectField
        label="Period"
        isCompact
        value={view.days}
        onChange={chooseDays}
        options={[
          ...dayChoices.map((days) => ({ value: days, label: `Last ${days} days` })),
          { value: "own", label: "Custom range" },
        ]}
      />
      {view.days === "own" && (
        <>
          <DayField
            label="First day"
            value={view.first}
            max={today}
            error={view.problem}
            onChange={(from) => onChange({ from, to: view.last })}
          />
          <DayField
            label="Last day"
            value={view.last}
            max={today}
            onChange={(to) => onChange({ from: view.first, to })}
          />
        </>
      )}
      <SelectField
        label="Show"
        isCompact
        value={view.show}
        onChange={(show) => onChange({ show: show === "charge" ? "" : show })}
        options={Object.entries(measureNames).map(([value, label]) => ({ value, label }))}
      />
      <SelectField
        label="By"
        isCompact
        value={view.by}
        onChange={(by) => onChange({ by: by === "model" ? "" : by })}
        options={[
          { value: "model", label: "By model" },
          { value: "key", label: "By key" },
        ]}
      />
      <ChoiceField
        label="Model"
        value={model ?? ""}
        onChange={(value) => onChange({ model: value })}
        options={[{ value: "", label: "All models" }, ...[...modelIds].map((id) => ({ value: id, label: id }))]}
      />
      <ChoiceField
        label="Key"
        value={keyId ?? ""}
        onChange={(key) => onChange({ key })}
        options={[{ value: "", label: "All keys" }, ...[...keys].map(([value, label]) => ({ value, label }))]}
      />
    </search>
  );
}
