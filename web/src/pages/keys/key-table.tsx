import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ApiKey } from "../../api/fetch-keys.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { Badge } from "../../design/badge.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { formatDate, formatSince } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { KeyBudget } from "./key-budget.tsx";
import { describeKeyStatus, kindNames, listRestrictions, toMoment } from "./key-labels.ts";

type KeyTableProps = { label: string; status: "live" | "ended"; empty: ReactNode };

export function KeyTable({ label, status, empty }: KeyTableProps) {
  const { time_zone: timeZone } = useSession().account;
  const { rows, more, ...keys } = usePageQuery(queryTable.keys.list(status));
  // The console's own key exists for every account and is unusable for programs.
  const hasOnlyConsole = rows !== undefined && rows.length > 0 && rows.every(({ kind }) => kind === "console");
  return (
    <div className="flex flex-col gap-4">
      {hasOnlyConsole && empty}
      <DataTable
        label={label}
        columns={listColumns(timeZone, status)}
        rows={rows}
        {...keys}
        keyOf={({ id }) => id}
        expectedRows={3}
        empty={empty}
      />
      <LoadMore {...more} />
    </div>
  );
}

function listColumns(timeZone: string, status: KeyTableProps["status"]): Column<ApiKey>[] {
  return [
    { name: "Key", hasNames: true, cell: (key) => <KeyName apiKey={key} timeZone={timeZone} /> },
    { name: "Access", hasNames: true, isSecondary: true, cell: (key) => <Restrictions apiKey={key} /> },
    { name: "Budget", isSecondary: true, cell: (key) => <KeyBudget apiKey={key} /> },
    { name: "Last used", isSecondary: true, cell: (key) => <LastUse apiKey={key} /> },
    { name: "Status", cell: (key) => <KeyStatus apiKey={key} timeZone={timeZone} hasEnded={status === "ended"} /> },
  ];
}

function KeyName({ apiKey, timeZone }: { apiKey: ApiKey; timeZone: string }) {
  const { id, name, kind, preview, created, content_log: logsContent } = apiKey;
  const kindName = kindNames[kind];
  return (
    <div className="flex min-w-36 flex-col items-start gap-1">
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Link
          to="/console/keys"
          search={(last) => ({ ...last, key: id })}
          className="font-medium hover:text-accent hover:underline"
        >
          {name}
        </Link>
        {kindName !== null && <Badge>{kindName}</Badge>}
        {logsContent && <Badge>Content log</Badge>}
      </span>
      <span className="text-xs text-ink-soft">
        {preview !== null && <code className="font-mono">{preview}</code>}
        {preview !== null && <span className="max-sm:hidden"> · </span>}
        <span className="max-sm:hidden">created {formatDate(toMoment(created), timeZone)}</span>
      </span>
    </div>
  );
}

function Restrictions({ apiKey }: { apiKey: ApiKey }) {
  const restrictions = listRestrictions(apiKey);
  if (restrictions.length === 0) return <span className="inline-block min-w-24 text-ink-soft">Full access</span>;
  return <span className="line-clamp-3 max-w-56 min-w-24">{restrictions.join(" · ")}</span>;
}

function LastUse({ apiKey: { last_used: lastUsed } }: { apiKey: ApiKey }) {
  const words = lastUsed === null ? "Never" : formatSince(toMoment(lastUsed), new Date());
  return <span className="whitespace-nowrap text-ink-soft">{words}</span>;
}

type KeyStatusProps = { apiKey: ApiKey; timeZone: string; hasEnded: boolean };

function KeyStatus({ apiKey, timeZone, hasEnded }: KeyStatusProps) {
  // Use the server's clock: this computer's may be wrong.
  const now = hasEnded && apiKey.expires_at !== null ? new Date(apiKey.expires_at) : new Date();
  const { kind, name } = describeKeyStatus(apiKey, now);
  const endsAt = apiKey.revoked_at ?? apiKey.expires_at;
  return (
    <div className="flex flex-col items-start gap-1">
      <Badge kind={kind}>{name}</Badge>
      {endsAt !== null && (
        <span className="text-xs text-ink-soft">
          {apiKey.revoked_at === null && kind !== "neutral" ? "until " : ""}
          {formatDate(endsAt, timeZone)}
        </span>
      )}
    </div>
  );
}
