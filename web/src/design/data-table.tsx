import { lazy, type ReactNode, Suspense, useLayoutEffect, useState } from "react";
import { joinClasses } from "./join-classes.ts";
import { LoadFailure } from "./load-failure.tsx";
import { Skeleton } from "./skeleton.tsx";
import type { RowPlace } from "./virtual-rows.tsx";

export type Column<Row> = {
  name: string;
  /** Right-aligned, with digits below each other. */
  align?: "left" | "right";
  /** Contains user-chosen names, which may be long: they break anywhere. */
  hasNames?: boolean;
  /** Hidden in narrow windows, where the page shows the value elsewhere. */
  isSecondary?: boolean;
  /** For a column of buttons: its name is for screen readers only. */
  isNameHidden?: boolean;
  /** Shown in a totals row. */
  total?: ReactNode | undefined;
  cell(row: Row): ReactNode;
};

type DataTableProps<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  /** `undefined` while loading. */
  rows: readonly Row[] | undefined;
  error?: Error | null;
  onRetry?(): void;
  keyOf(row: Row): string;
  /** An `EmptyState` shown instead of the table. */
  empty: ReactNode;
  /** Number of skeleton rows while loading. */
  expectedRows?: number;
};

/** Longer tables render only the visible rows. */
const drawnRowsMax = 80;

/** Loaded only for long tables. */
const VirtualRows = lazy(async () => ({ default: (await import("./virtual-rows.tsx")).VirtualRows }));

/** The cells' corners match the box's rounded corners. */
const tableClasses =
  "w-full border-separate border-spacing-0 text-sm [&>:last-child>:last-child>:first-child]:rounded-bl-lg [&>:last-child>:last-child>:last-child]:rounded-br-lg";

const cellClasses = "px-2 py-2 first:pl-3 last:pr-3 sm:px-3 sm:first:pl-4 sm:last:pr-4";

/**
 * Rows with loading, empty and error states. Column headers are sticky. A table wider than its box scrolls, also by
 * keyboard.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, error = null, onRetry, keyOf, empty, expectedRows = 5 } = props;
  const { setSection, isWide } = useWidth();
  if (error !== null && rows === undefined) {
    return <LoadFailure title="Could not load this list." error={error} onRetry={() => onRetry?.()} />;
  }
  if (rows?.length === 0) return empty;
  return (
    <section
      ref={setSection}
      aria-label={label}
      aria-busy={rows === undefined}
      // Makes the table scrollable by keyboard.
      tabIndex={isWide ? 0 : undefined}
      className={joinClasses(
        "rounded-lg border border-line bg-surface shadow-card",
        // A scrolling box would also capture the sticky headers.
        isWide ? "overflow-x-auto" : "overflow-x-clip",
      )}
    >
      <table className={tableClasses} aria-rowcount={countRows(rows)}>
        <thead>
          <tr className="text-left text-xs text-ink-soft">
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                className={joinClasses(
                  cellClasses,
                  "sticky top-0 z-10 border-b border-line bg-sunken font-medium first:rounded-tl-lg last:rounded-tr-lg",
                  alignOf(column),
                )}
              >
                <span className={nameClasses(column)}>{column.name}</span>
              </th>
            ))}
          </tr>
        </thead>
        {rows === undefined && <WaitingRows columns={columns} count={expectedRows} />}
        {rows !== undefined && rows.length <= drawnRowsMax && <Rows columns={columns} rows={rows} keyOf={keyOf} />}
        {rows !== undefined && rows.length > drawnRowsMax && (
          <Suspense fallback={<Rows columns={columns} rows={rows.slice(0, drawnRowsMax)} keyOf={keyOf} />}>
            <VirtualRows count={rows.length} columnCount={columns.length}>
              {(index, place) => {
                const row = rows[index];
                return row === undefined ? null : (
                  <TableRow key={keyOf(row)} columns={columns} row={row} place={place} />
                );
              }}
            </VirtualRows>
          </Suspense>
        )}
        <Totals columns={columns} />
      </table>
    </section>
  );
}

/** Only needed when not all rows are rendered. */
function countRows(rows: readonly unknown[] | undefined): number | undefined {
  return rows === undefined || rows.length <= drawnRowsMax ? undefined : rows.length + 1;
}

/** Whether the table overflows its box. */
function useWidth() {
  const [section, setSection] = useState<HTMLElement | null>(null);
  const [isWide, setWide] = useState(false);
  useLayoutEffect(() => {
    const table = section?.firstElementChild;
    if (section === null || table == null) return;
    const measure = () => setWide(table.clientWidth > section.clientWidth + 1);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(section);
    observer.observe(table);
    return () => observer.disconnect();
  }, [section]);
  return { setSection, isWide };
}

type RowsProps<Row> = Pick<DataTableProps<Row>, "columns" | "keyOf"> & { rows: readonly Row[] };

function Rows<Row>({ columns, rows, keyOf }: RowsProps<Row>) {
  return (
    <tbody>
      {rows.map((row) => (
        <TableRow key={keyOf(row)} columns={columns} row={row} />
      ))}
    </tbody>
  );
}

type TableRowProps<Row> = { columns: readonly Column<Row>[]; row: Row; place?: RowPlace };

function TableRow<Row>({ columns, row, place }: TableRowProps<Row>) {
  return (
    <tr
      className="transition-colors hover:bg-sunken/60 [&:not(:last-child)>td]:border-b"
      {...(place === undefined
        ? {}
        : { ref: place.measure, "data-index": place.index, "aria-rowindex": place.index + 2 })}
    >
      {columns.map((column) => (
        <td key={column.name} className={joinClasses(cellClasses, "border-line align-top", alignOf(column))}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function Totals<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  if (columns.every(({ total }) => total === undefined)) return null;
  return (
    <tfoot>
      <tr className="font-medium">
        {columns.map((column) => (
          <td key={column.name} className={joinClasses(cellClasses, "border-t border-line bg-sunken", alignOf(column))}>
            {column.total}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}

function nameClasses<Row>({ isNameHidden, hasNames, align }: Column<Row>): string {
  if (isNameHidden === true) return "sr-only";
  if (hasNames !== true) return "";
  return joinClasses("line-clamp-3 min-w-20 max-w-40 whitespace-normal", align === "right" && "ml-auto");
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
  return (
    <tbody>
      {places.map((place) => (
        <tr key={place}>
          {columns.map((column) => (
            <td key={column.name} className={joinClasses(cellClasses, alignOf(column))}>
              <Skeleton className="h-5" />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
