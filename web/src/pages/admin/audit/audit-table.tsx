import type { ReactNode } from "react";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { LongName } from "../../../design/long-name.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AdminLink } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { AuditEntry, AuditQuery } from "../fetch-admin.ts";

type AuditTableProps = { filter: AuditQuery; empty?: ReactNode };

/** Audit entries, newest first, with what changed. */
export function AuditTable({ filter, empty }: AuditTableProps) {
  const { time_zone: timeZone } = useSession().account;
  const { rows, more, ...entries } = usePageQuery(adminQueries.adminAudit.list(filter));
  return (
    <div className="flex flex-col gap-4">
      <DataTable
        label="Audit log"
        columns={listColumns(timeZone, filter.account_id === undefined)}
        rows={rows}
        {...entries}
        keyOf={({ id }) => id}
        empty={empty ?? <p className="text-sm text-ink-soft">Nothing was changed yet.</p>}
      />
      <LoadMore {...more} />
    </div>
  );
}

function listColumns(timeZone: string, showsAccount: boolean): Column<AuditEntry>[] {
  return [
    {
      name: "Time",
      cell: ({ created_at: createdAt, id }) => (
        <span className="flex min-w-20 flex-col text-ink-soft">
          {formatMoment(createdAt, timeZone)}
          <code className="font-mono text-xs whitespace-nowrap max-sm:hidden">{id}</code>
        </span>
      ),
    },
    {
      name: "Who",
      hasNames: true,
      isSecondary: true,
      cell: ({ actor, address }) => (
        <span className="flex min-w-24 flex-col">
          <LongName>{actor.name}</LongName>
          <span className="text-xs text-ink-soft">{address ?? "on the host"}</span>
        </span>
      ),
    },
    {
      name: "What",
      hasNames: true,
      cell: (entry) => (
        <span className="flex min-w-28 flex-col gap-0.5">
          <code className="font-mono text-xs">{entry.action}</code>
          <span className="text-xs text-ink-soft sm:hidden">
            <LongName>{entry.actor.name}</LongName>
          </span>
          {showsAccount && entry.account_id !== null && (
            <AdminLink to={`accounts/${entry.account_id}`} className={`text-xs ${linkClasses}`}>
              <LongName>{entry.account_id}</LongName>
            </AdminLink>
          )}
          {entry.reason !== null && <span>{entry.reason}</span>}
        </span>
      ),
    },
    {
      name: "Changed",
      hasNames: true,
      isSecondary: true,
      cell: ({ before, after }) => <Changes before={before} after={after} />,
    },
  ];
}

type Facts = AuditEntry["before"];

/** The facts that differ. */
function Changes({ before, after }: { before: Facts; after: Facts }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = names.filter((name) => write(before?.[name]) !== write(after?.[name]));
  if (changed.length === 0) return null;
  return (
    <ul className="flex min-w-40 flex-col gap-0.5 text-xs">
      {changed.map((name) => (
        <li key={name}>
          <span className="text-ink-soft">{name}: </span>
          {before?.[name] !== undefined && before[name] !== null && (
            <>
              <del className="text-ink-soft">{write(before[name])}</del>{" "}
            </>
          )}
          {after?.[name] !== undefined && after[name] !== null && (
            <ins className="no-underline">{write(after[name])}</ins>
          )}
        </li>
      ))}
    </ul>
  );
}

function write(fact: unknown): string {
  return typeof fact === "string" ? fact : JSON.stringify(fact ?? null);
}
