import { useState } from "react";
import { Button, buttonClasses } from "../../../design/button.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { Notice } from "../../../design/notice.tsx";
import { formatCount } from "../../../parts/format/format-money.ts";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { type AdminSearch, useAdminPlace } from "../admin-place.tsx";
import { type AuditQuery, verifyAuditLog } from "../fetch-admin.ts";
import { SearchField } from "../search-field.tsx";
import { AuditTable } from "./audit-table.tsx";

type Verdict = Awaited<ReturnType<typeof verifyAuditLog>>;

/** What operators and account owners did. */
export function AuditPage() {
  const { search, change } = useAdminPlace();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const verify = useAction(verifyAuditLog, setVerdict);
  const filter = readFilter(search);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <ConsoleFrame
      title="Audit log"
      intro="What operators and account owners did. Entries cannot be changed or removed."
      actions={
        <>
          <a href={`/admin/v1/audit/export?${new URLSearchParams(filter)}`} download className={buttonClasses("plain")}>
            Export CSV
          </a>
          <Button isBusy={verify.isBusy} onClick={() => verify.run(undefined)}>
            Verify
          </Button>
        </>
      }
    >
      <FormError message={verify.errorBeside()} />
      {verdict !== null && <Outcome verdict={verdict} />}
      <div className="flex flex-col gap-4">
        <search className="flex flex-wrap gap-3">
          <SearchField
            label="Action, such as account"
            value={search.action ?? ""}
            onChange={(action) => change({ action })}
          />
          <SearchField label="Who: name or ID" value={search.actor ?? ""} onChange={(actor) => change({ actor })} />
          <SearchField
            label="Account or object ID"
            value={search.subject ?? ""}
            onChange={(subject) => change({ subject })}
          />
        </search>
        <AuditTable
          filter={filter}
          empty={
            <EmptyState
              title={isFiltered ? "No entries match." : "Nothing was changed yet."}
              action={
                isFiltered && (
                  <Button onClick={() => change({ action: "", actor: "", subject: "" })}>Show all entries</Button>
                )
              }
            >
              {isFiltered
                ? "Names and IDs must match completely. An action is a word such as account, or account.suspended."
                : "Changes by operators and account owners appear here."}
            </EmptyState>
          }
        />
      </div>
    </ConsoleFrame>
  );
}

function readFilter({ action, actor, subject }: AdminSearch): AuditQuery {
  return {
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor }),
    ...(subject === undefined ? {} : subject.startsWith("acct_") ? { account_id: subject } : { subject }),
  };
}

function Outcome({ verdict: { ok, entries, fault, head } }: { verdict: Verdict }) {
  if (!ok) {
    return (
      <Notice kind="error" title="The audit log was changed">
        {`The chain of hashes breaks at ${fault?.id ?? "an entry"}. Restore the database from a backup, and find out who has access to it.`}
      </Notice>
    );
  }
  return (
    <Notice kind="success" title={`All ${formatCount(entries)} entries are unchanged`}>
      {head !== null && (
        <p className="wrap-anywhere">
          Note this elsewhere to prove later that no entry was cut off:{" "}
          <code className="font-mono text-xs">{`${head.id}:${head.hash}`}</code>
        </p>
      )}
    </Notice>
  );
}
