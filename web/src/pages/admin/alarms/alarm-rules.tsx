import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { CheckField } from "../../../design/check-field.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { useToast } from "../../../design/toast.tsx";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { adminApi } from "../admin-api.ts";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { AlarmRule } from "../fetch-watch.ts";
import { useCurrency } from "../use-currency.ts";

/** Every rule with its threshold and last reading. */
export function AlarmRules() {
  const { data, error, refetch } = useTableQuery(adminQueries.adminAlarms.rules());
  const [changing, setChanging] = useState<AlarmRule | null>(null);
  const currency = useCurrency() ?? "";
  return (
    <>
      <DataTable
        label="Alarm rules"
        columns={listColumns(setChanging, currency)}
        rows={data?.data}
        error={error}
        onRetry={() => void refetch()}
        keyOf={({ id }) => id}
        empty={null}
        expectedRows={10}
      />
      {changing !== null && <RuleDialog rule={changing} currency={currency} onClose={() => setChanging(null)} />}
    </>
  );
}

function listColumns(onChange: (rule: AlarmRule) => void, currency: string): Column<AlarmRule>[] {
  return [
    {
      name: "Rule",
      hasNames: true,
      cell: ({ title, reads, run_book: runBook }) => (
        <div className="flex min-w-32 flex-col gap-0.5">
          <span className="font-medium">{title}</span>
          <span className="text-sm text-ink-soft max-sm:hidden">{reads}</span>
          <code className="font-mono text-xs text-ink-soft max-sm:hidden">{runBook}</code>
        </div>
      ),
    },
    {
      name: "Fires",
      cell: (rule) => (rule.enabled ? describeThreshold(rule, currency) : <Badge>Off</Badge>),
    },
    {
      name: "Last reading",
      isSecondary: true,
      hasNames: true,
      cell: (rule) => <LastReading rule={rule} currency={currency} />,
    },
    {
      name: "Change",
      isNameHidden: true,
      align: "right",
      cell: (rule) => (
        <Button look="quiet" aria-label={`Change ${rule.title}`} onClick={() => onChange(rule)}>
          Change
        </Button>
      ),
    },
  ];
}

const units: Readonly<Record<string, string>> = { percent: "%", count: "", gigabytes: "GB" };

/** The unit stays on the number's line. */
function presentValue(value: number, unit: string, currency: string): string {
  const rounded = Math.round(value * 100) / 100;
  const name = unit === "amount" ? currency : (units[unit] ?? unit);
  return name === "" ? String(rounded) : `${rounded}\u00a0${name}`;
}

function describeThreshold({ met_by: metBy, threshold, unit }: AlarmRule, currency: string): string {
  return `${metBy} ${presentValue(threshold, unit, currency)}`;
}

type RuleProps = { rule: AlarmRule; currency: string };

function LastReading({ rule: { last_reading: reading, unit }, currency }: RuleProps) {
  if (reading === null) return <span className="text-ink-soft">Not read yet</span>;
  if (reading.trouble !== null) return <span className="text-danger">{reading.trouble}</span>;
  if (reading.value === null) return <span className="text-ink-soft">Nothing to read</span>;
  return <span className="tabular-nums">{presentValue(reading.value, unit, currency)}</span>;
}

function RuleDialog({ rule, currency, onClose }: RuleProps & { onClose(): void }) {
  const [threshold, setThreshold] = useState(String(rule.threshold));
  const [isOn, setIsOn] = useState(rule.enabled);
  const refresh = useAdminRefresh();
  const showToast = useToast();
  const save = useAction(
    () =>
      ask(
        adminApi.PATCH("/alarm-rules/{rule}", {
          params: { path: { rule: rule.id } },
          body: { enabled: isOn, threshold: threshold.trim() === "" ? null : Number(threshold) },
        }),
      ),
    () => {
      showToast("Rule changed.");
      void refresh("adminAlarms");
      onClose();
    },
  );
  return (
    <Dialog title={rule.title} onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.run(undefined);
        }}
      >
        <FormError message={save.errorBeside("threshold")} />
        <p className="text-sm text-ink-soft">{rule.reads}</p>
        <TextField
          label={rule.unit === "count" ? "Threshold" : `Threshold, in ${rule.unit === "amount" ? currency : rule.unit}`}
          name="threshold"
          inputMode="decimal"
          hint={`Fires ${rule.met_by} it. From ${rule.threshold_min} to ${rule.threshold_max}; empty: ${rule.default_threshold}.`}
          value={threshold}
          onChange={setThreshold}
          error={save.errorAt("threshold")}
        />
        <CheckField label="The rule is on" isChecked={isOn} onChange={setIsOn} />
        <div className="flex flex-wrap justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isBusy={save.isBusy}>
            Save rule
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
