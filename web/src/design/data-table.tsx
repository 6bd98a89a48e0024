import type { ReactNode } from "react";
import { joinClasses } from "./join-classes.ts";
import { LoadFailure } from "./load-failure.tsx";
import { Skeleton } from "./skeleton.tsx";

export type Column<Row> = {
  name: string;
  /** Numbers stand below each other by their digits. */
  align?: "left" | "right";
  /** Holds names that people chose, which may be long and without a gap: they are broken anywhere, other words never. */
  hasNames?: boolean;
  /** Left out in narrow windows, where something else on the page tells it. */
  isSecondary?: boolean;
  /** For a column of buttons, whose name only readers who hear the page need. */
  isNameHidden?: boolean;
  cell(row: Row): ReactNode;
};

type DataTableProps<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  /** `undefined` while they are on their way. */
  rows: readonly Row[] | undefined;
  error?: Error | null;
  onRetry?(): void;
  keyOf(row: Row): string;
  /** An `EmptyState`, in the place of the table. */
  empty: ReactNode;
  /** How many rows to keep the place of while they are on their way. */
  expectedRows?: number;
};

const cellClasses = "px-3 py-2.5 first:pl-0 last:pr-0 sm:first:pl-3 sm:last:pr-3";

/**
 * Rows that come from the server: while they are on their way, when there are none, and when they do not come. A table
 * that is wider than its window scrolls by itself, with the keyboard too.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, error = null, onRetry, keyOf, empty, expectedRows = 5 } = props;
  if (error !== null && rows === undefined) {
    return <LoadFailure title="This list cannot be shown." error={error} onRetry={() => onRetry?.()} />;
  }
  if (rows?.length === 0) return empty;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard cannot scroll the table.
    <section aria-label={label} aria-busy={rows === undefined} tabIndex={0} className="overflow-x-auto">
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr className="border-b border-line text-left text-xs text-ink-soft">
            {columns.map((column) => (
              <th key={column.name} scope="col" className={joinClasses(cellClasses, "font-medium", alignOf(column))}>
                <span className={nameClasses(column)}>{column.name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows === undefined ? (
            <WaitingRows columns={columns} count={expectedRows} />
          ) : (
            rows.map((row) => (
              <tr key={keyOf(row)} className="hover:bg-sunken/60">
                {columns.map((column) => (
                  <td key={column.name} className={joinClasses(cellClasses, "align-top", alignOf(column))}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))
          )}
        </tbody>
      </table>
    </section>
  );
}

function nameClasses<Row>({ isNameHidden, hasNames, align }: Column<Row>): string {
  if (isNameHidden === true) return "sr-only";
  if (hasNames !== true) return "";
  return joinClasses("line-clamp-3 max-w-40 whitespace-normal", align === "right" && "ml-auto");
}

function alignOf<Row>({ align, isSecondary, hasNames }: Column<Row>): string {
  return joinClasses(
    hasNames === true ? "wrap-anywhere" : "wrap-break-word",
    align === "right" && "text-right whitespace-nowrap tabular-nums",
    isSecondary === true && "max-sm:hidden",
  );
}

function WaitingRows<Row>({ columns, count }: { columns: readonly Column<Row>[]; count: number }) {
  const places = Array.from({ length: count }, (_, index) => `place ${index}`);
  return places.map((place) => (
    <tr key={place}>
      {columns.map((column) => (
        <td key={column.name} className={joinClasses(cellClasses, alignOf(column))}>
          <Skeleton className="h-5.5" />
        </td>
      ))}
    </tr>
  ));
}
