import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, memo, type ReactNode, useEffect, useRef, useState } from "react";
import type { LoggedRequest } from "../../api/fetch-requests.ts";
import { Badge } from "../../design/badge.tsx";
import { CodeWord } from "../../design/code-word.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { Skeleton } from "../../design/skeleton.tsx";
import { countDecimals } from "../../parts/format/align-figures.ts";
import { formatCount, formatMoney, formatRoughMoney } from "../../parts/format/format-money.ts";
import { MoneyCell } from "../../parts/format/money-cell.tsx";
import { describeEnding, formatInstant, formatLatency, nameWire } from "./request-labels.ts";

type RequestTableProps = {
  /** `undefined` while loading. */
  rows: readonly LoggedRequest[] | undefined;
  timeZone: string;
  currency: string | undefined;
  keyNames: ReadonlyMap<string, string> | undefined;
};

/** `decimals` are those of the costs, which are aligned. */
type CellProps = Omit<RequestTableProps, "rows"> & { row: LoggedRequest; decimals: number };
type Column = { name: string; className: string; cell(props: CellProps): ReactNode };

const soft = "text-xs text-ink-soft";
const right = "text-right whitespace-nowrap tabular-nums";

/** Columns hide in narrow windows, so the table never scrolls sideways. */
const columns: readonly Column[] = [
  { name: "Time", className: "whitespace-nowrap max-sm:w-1/2", cell: (props) => <TimeCell {...props} /> },
  { name: "Status", className: "wrap-break-word", cell: ({ row }) => <StatusCell row={row} /> },
  { name: "Model", className: "max-md:hidden wrap-anywhere", cell: ({ row }) => <ModelCell row={row} /> },
  {
    name: "Key",
    className: "max-xl:hidden max-w-40 wrap-anywhere",
    cell: ({ row: { key_id: id }, keyNames }) => (
      <span className="inline-block min-w-20 text-ink-soft">{keyNames?.get(id) ?? id}</span>
    ),
  },
  { name: "Latency", className: right, cell: ({ row }) => formatLatency(row.latency_ms) },
  {
    name: "First token",
    className: joinClasses(right, "max-xl:hidden"),
    cell: ({ row: { time_to_first_token_ms: ms } }) => (ms === null ? <Nothing /> : formatLatency(ms)),
  },
  {
    name: "Tokens in / out",
    className: joinClasses(right, "max-lg:hidden"),
    cell: ({ row: { tokens } }) =>
      tokens === null ? <Nothing /> : `${formatCount(tokens.input)} / ${formatCount(tokens.output)}`,
  },
  {
    name: "Cost",
    className: joinClasses(right, "max-sm:hidden"),
    cell: (props) => <CostCell {...props} />,
  },
];

const cellClasses = "px-3 py-2 first:pl-0 last:pr-0 sm:first:pl-3 sm:last:pr-3";
const waitingRows = Array.from({ length: 8 }, (_, index) => `place ${index}`);

/** Requests, newest first, with sticky headers and arrow-key navigation. New rows are highlighted. */
export function RequestTable({ rows, ...given }: RequestTableProps) {
  const decimals = countDecimals(listCosts(rows ?? [], given.currency));
  const fresh = useFreshRows(rows);
  return (
    <section aria-label="Requests" aria-busy={rows === undefined}>
      <table className="w-full border-collapse text-sm">
        <thead className="sticky top-0 z-10 bg-canvas">
          <tr className="text-left text-xs text-ink-soft shadow-[inset_0_-1px_0_var(--line)]">
            {columns.map(({ name, className }) => (
              <th
                key={name}
                scope="col"
                className={joinClasses(cellClasses, "font-medium whitespace-nowrap", className)}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line" onKeyDown={moveAmongRows}>
          {rows === undefined
            ? waitingRows.map((place) => <WaitingRow key={place} />)
            : rows.map((row) => (
                <RequestRow key={row.id} {...given} row={row} decimals={decimals} isFresh={fresh.has(row.id)} />
              ))}
        </tbody>
      </table>
    </section>
  );
}

/** Rendered once: the page renders with every answer of its queries, and a row's links are expensive. */
const RequestRow = memo(function RequestRow({ isFresh, ...cell }: CellProps & { isFresh: boolean }) {
  return (
    <tr
      className={joinClasses(
        "relative transition-colors duration-1000 hover:bg-sunken/60 has-[a:focus-visible]:bg-sunken",
        isFresh && "bg-accent-soft",
      )}
    >
      {columns.map(({ name, className, cell: draw }) => (
        <td key={name} className={joinClasses(cellClasses, "align-top", className)}>
          {draw(cell)}
        </td>
      ))}
    </tr>
  );
});

function WaitingRow() {
  return (
    <tr>
      {columns.map(({ name, className }) => (
        <td key={name} className={joinClasses(cellClasses, className)}>
          <Skeleton className="h-5.5" />
        </td>
      ))}
    </tr>
  );
}

/** The link covers the whole row. */
function TimeCell({ row, timeZone }: CellProps) {
  return (
    <div className="flex flex-col">
      <Link
        to="/console/requests/$id"
        params={{ id: row.id }}
        data-request={row.id}
        className="font-medium tabular-nums after:absolute after:inset-0 hover:text-accent"
      >
        {formatInstant(row.created_at, timeZone)}
      </Link>
      <span className={`${soft} max-w-40 whitespace-normal wrap-anywhere md:hidden`}>
        {row.model ?? <Route row={row} />}
      </span>
    </div>
  );
}

function StatusCell({ row }: { row: LoggedRequest }) {
  const { kind, name } = describeEnding(row);
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Badge kind={kind}>{name}</Badge>
      {row.replayed && <Badge>Replayed</Badge>}
      {row.error_code !== null && <CodeWord className={soft}>{row.error_code}</CodeWord>}
    </div>
  );
}

function ModelCell({ row }: { row: LoggedRequest }) {
  if (row.model === null) return <Route row={row} />;
  return (
    <div className="flex flex-col">
      {row.model}
      {row.wire !== null && <span className={soft}>{nameWire(row.wire)}</span>}
    </div>
  );
}

function listCosts(rows: readonly LoggedRequest[], currency: string | undefined): string[] {
  return rows.flatMap(({ charge }) =>
    charge === null || currency === undefined ? [] : formatRoughMoney(charge, currency),
  );
}

function CostCell({ row, currency, decimals }: CellProps) {
  if (row.charge === null || currency === undefined) return <Nothing />;
  const exact = formatMoney(row.charge, currency);
  const cost = <MoneyCell figure={formatRoughMoney(row.charge, currency)} exact={exact} decimals={decimals} />;
  if (row.charge_id === null) return cost;
  return (
    <Link
      to="/console/usage/charges/$id"
      params={{ id: row.charge_id }}
      aria-label={`${exact}, open the charge`}
      className="relative z-[1] underline decoration-line-strong underline-offset-4 hover:text-accent"
    >
      {cost}
    </Link>
  );
}

function Nothing() {
  return <span className="text-ink-soft">–</span>;
}

function Route({ row: { method, route } }: { row: LoggedRequest }) {
  return <CodeWord className={soft}>{`${method} ${route ?? "unknown path"}`}</CodeWord>;
}

/** Rows added above the previous ones. */
function useFreshRows(rows: readonly LoggedRequest[] | undefined): ReadonlySet<string> {
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const known = useRef<ReadonlySet<string> | null>(null);
  const ids = rows?.map(({ id }) => id).join(" ");
  useEffect(() => {
    if (ids === undefined) return;
    const listed = ids.split(" ");
    const before = known.current;
    known.current = new Set(listed);
    if (before === null) return;
    const firstKnown = listed.findIndex((id) => before.has(id));
    // "Load more" adds older rows below, which are not new.
    if (firstKnown > 0) setFresh(new Set(listed.slice(0, firstKnown)));
  }, [ids]);
  return fresh;
}

function moveAmongRows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-request]")];
  const at = links.findIndex((link) => link.matches(":focus"));
  const next = links[at + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
