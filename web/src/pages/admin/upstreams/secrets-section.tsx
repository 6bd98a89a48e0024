import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { CheckField } from "../../../design/check-field.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { PasswordField } from "../../../design/password-field.tsx";
import { Section } from "../../../design/section.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { adminApi } from "../admin-api.ts";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { UpstreamSecret } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";

type Chosen = { action: "store" | "roll-back"; secret: UpstreamSecret };

/** The keys that the catalog names: versions and last use, never values. */
export function SecretsSection() {
  const secrets = useTableQuery(adminQueries.adminUpstreams.secrets());
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const close = () => setChosen(null);
  return (
    <Section title="Keys" intro="Values are write-only. Gateways use a new version within a second.">
      <DataTable
        label="List of keys"
        columns={listColumns(setChosen)}
        rows={secrets.data?.data}
        error={secrets.error}
        onRetry={() => void secrets.refetch()}
        keyOf={({ id }) => id}
        empty={<EmptyState title="The catalog names no key." />}
      />
      {chosen?.action === "store" && <StoreSecret secret={chosen.secret} onClose={close} />}
      {chosen?.action === "roll-back" && <RollBack secret={chosen.secret} onClose={close} />}
    </Section>
  );
}

function listColumns(choose: (chosen: Chosen) => void): Column<UpstreamSecret>[] {
  return [
    {
      name: "Key",
      hasNames: true,
      cell: ({ id, providers }) => (
        <span className="flex min-w-28 flex-col">
          <code className="font-mono text-xs">{id}</code>
          <span className="text-xs text-ink-soft">
            {providers.length === 0 ? "no provider names it" : providers.join(", ")}
          </span>
        </span>
      ),
    },
    {
      name: "Version",
      cell: ({ source, is_unreadable: isUnreadable, versions }) => {
        const current = versions.find((one) => one.retired_at === null);
        if (source === "missing") return <Badge kind="bad">Missing</Badge>;
        if (isUnreadable) return <Badge kind="bad">Unreadable</Badge>;
        if (current === undefined) return "Environment";
        return (
          <span className="flex flex-col">
            {current.version}
            <span className="text-xs text-ink-soft">{formatMoment(current.created_at)}</span>
          </span>
        );
      },
    },
    {
      name: "Last use",
      isSecondary: true,
      cell: ({ versions }) => {
        const used = versions.find((one) => one.retired_at === null)?.last_used_at ?? null;
        return <span className="text-ink-soft">{used === null ? "Not seen" : formatMoment(used)}</span>;
      },
    },
    {
      name: "Actions",
      isNameHidden: true,
      align: "right",
      cell: (secret) => (
        <span className="flex flex-wrap justify-end gap-2">
          <Button look="quiet" onClick={() => choose({ action: "store", secret })}>
            {secret.versions.length === 0 ? "Set" : "Rotate"}
          </Button>
          {secret.versions.length > 1 && (
            <Button look="quiet" onClick={() => choose({ action: "roll-back", secret })}>
              Roll back
            </Button>
          )}
        </span>
      ),
    },
  ];
}

type DialogProps = { secret: UpstreamSecret; onClose(): void };

function StoreSecret({ secret: { id, providers }, onClose }: DialogProps) {
  const refresh = useAdminRefresh();
  const [value, setValue] = useState("");
  const [isUnchecked, setUnchecked] = useState(false);
  return (
    <ReasonDialog
      title={`Store ${id}`}
      submitName="Check and store"
      fields={["value"]}
      send={async ({ reason }) => {
        const body = { name: id, value: value.trim(), unchecked: isUnchecked, reason };
        const { version, checks } = await ask(adminApi.POST("/secrets", { body }));
        if (version === null) throw new Error(describeFailure(checks));
      }}
      done={`${id} is stored.`}
      onDone={() => void refresh("adminUpstreams", "adminSetup")}
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          <PasswordField
            label="Value"
            name="value"
            autoComplete="off"
            value={value}
            onChange={setValue}
            error={errorAt("value")}
          />
          <CheckField
            label="Store without asking the vendor"
            isChecked={isUnchecked}
            onChange={setUnchecked}
            hint={providers.length === 0 ? "No provider of the catalog names it, so nothing can check it." : undefined}
          />
        </>
      )}
    </ReasonDialog>
  );
}

/** What a refused key's check found. */
export function describeFailure(checks: readonly { ok: boolean; message: string; remedy: string | null }[]): string {
  const failed = checks.find(({ ok }) => !ok);
  return `The key was not stored. ${failed?.message ?? "A check failed."} ${failed?.remedy ?? ""}`.trim();
}

function RollBack({ secret: { id, versions }, onClose }: DialogProps) {
  const refresh = useAdminRefresh();
  const current = versions.find((one) => one.retired_at === null)?.version;
  return (
    <ReasonDialog
      title={`Roll back ${id}?`}
      submitName="Roll back"
      send={({ reason }) => ask(adminApi.POST("/secrets/rollbacks", { body: { name: id, reason } }))}
      done={`${id} uses an older version.`}
      onDone={() => void refresh("adminUpstreams")}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">The version before {current} is used again within a second.</p>
    </ReasonDialog>
  );
}
