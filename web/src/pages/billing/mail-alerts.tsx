import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { MailAlerts } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { TextField } from "../../design/text-field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";

export function MailAlertsSection() {
  const alerts = useTableQuery(queryTable.alerts.now());
  if (alerts.error !== null && alerts.data === undefined) {
    return <LoadFailure error={alerts.error} onRetry={() => void alerts.refetch()} />;
  }
  return (
    <Section title="Mail alerts" intro="Sent to your account's address. Leave a field empty to switch its mail off.">
      {alerts.data === undefined ? <Skeleton className="h-32" /> : <AlertForm alerts={alerts.data} />}
    </Section>
  );
}

function AlertForm({ alerts }: { alerts: MailAlerts }) {
  const answers = useQueryCache();
  const [low, setLow] = useState(alerts.low_balance ?? "");
  const [percent, setPercent] = useState(alerts.budget_percent === null ? "" : String(alerts.budget_percent));
  const [isSaved, setSaved] = useState(false);
  const save = useAction(
    (body: { low_balance: string | null; budget_percent: number | null }) => ask(api.PATCH("/alerts", { body })),
    (next) => {
      answers.write(queryTable.alerts.now(), next);
      setSaved(true);
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSaved(false);
    const [amount, share] = [low.trim().replace(",", "."), percent.trim()];
    save.run({ low_balance: amount === "" ? null : amount, budget_percent: share === "" ? null : Number(share) });
  };
  return (
    <form onSubmit={submit} noValidate className="flex max-w-2xl flex-col items-start gap-4">
      <div className="grid w-full gap-4 sm:grid-cols-2">
        <TextField
          label={`Balance below, in ${alerts.currency}`}
          name="low-balance"
          inputMode="decimal"
          autoComplete="off"
          maxLength={20}
          value={low}
          onChange={setLow}
          error={save.errorAt("low_balance")}
          hint="Counts money on hold."
        />
        <TextField
          label="Key's budget spent, in percent"
          name="budget-percent"
          inputMode="numeric"
          autoComplete="off"
          maxLength={3}
          value={percent}
          onChange={setPercent}
          error={save.errorAt("budget_percent")}
          hint="Once per key and budget period."
        />
      </div>
      <FormError message={save.errorBeside("low_balance", "budget_percent")} />
      {isSaved && <Notice kind="success" title="Alerts saved." />}
      <Button type="submit" isBusy={save.isBusy}>
        Save alerts
      </Button>
    </form>
  );
}
