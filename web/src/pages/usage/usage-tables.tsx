import { useState } from "react";
import { Button } from "../../design/button.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { Section } from "../../design/section.tsx";
import { getSeriesColour } from "../../design/series-colours.ts";
import { countDecimals } from "../../parts/format/align-figures.ts";
import { formatCount, formatMoney, formatRoughMoney } from "../../parts/format/format-money.ts";
import { MoneyCell } from "../../parts/format/money-cell.tsx";
import { sumMoney } from "../../parts/format/sum-money.ts";
import { isNamed, type MeasureText, type Series, type UsageBar } from "./arrange-usage.ts";

type SeriesTableProps = {
  title: string;
  name: string;
  series: readonly Series[];
  currency: string;
  onOpen(id: string): void;
};

/** Totals by model or key; also the chart's legend. */
export function SeriesTable({ title, name, series, currency, onOpen }: SeriesTableProps) {
  const withTotal = <Total,>(total: Total): Total | undefined => (series.length < 2 ? undefined : total);
  const total = sumMoney(series.map(({ sums }) => sums.charge));
  const decimals = countDecimals(
    [total, ...series.map(({ sums }) => sums.charge)].map((charge) => formatRoughMoney(charge, currency)),
  );
  const writeCharge = (charge: string) => (
    <MoneyCell figure={formatRoughMoney(charge, currency)} exact={formatMoney(charge, currency)} decimals={decimals} />
  );
  const hasSome = (count: (series: Series) => number): boolean => series.some((each) => count(each) > 0);
  const count = (columnName: string, read: (series: Series) => number): Column<Series>[] =>
    hasSome(read)
      ? [
          {
            name: columnName,
            align: "right",
            isSecondary: true,
            cell: (each) => writeCount(read(each)),
            total: withTotal(formatCount(series.reduce((sum, each) => sum + read(each), 0))),
          },
        ]
      : [];
  const columns: Column<Series>[] = [
    {
      name,
      hasNames: true,
      total: withTotal("Total"),
      cell: (each) => (
        <span className="flex min-w-32 items-center gap-2.5">
          <span
            aria-hidden="true"
            className="size-2.5 shrink-0 rounded-full"
            style={{ backgroundColor: getSeriesColour(each.colour) }}
          />
          {isNamed(each.id) ? (
            <button
              type="button"
              className="text-left font-medium hover:text-accent hover:underline"
              onClick={() => onOpen(each.id)}
            >
              {each.name}
            </button>
          ) : (
            <span className="font-medium">{each.name}</span>
          )}
        </span>
      ),
    },
    {
      name: "Calls",
      align: "right",
      cell: ({ sums }) => formatCount(sums.calls),
      total: withTotal(formatCount(series.reduce((sum, { sums }) => sum + sums.calls, 0))),
    },
    ...count("Input tokens", ({ sums }) => sums.input_tokens),
    ...count("Output tokens", ({ sums }) => sums.output_tokens),
    ...count("Images", ({ sums }) => sums.images),
    ...count("Seconds", ({ sums }) => sums.seconds),
    ...count("Characters", ({ sums }) => sums.characters),
    {
      name: "Charge",
      align: "right",
      cell: ({ sums }) => writeCharge(sums.charge),
      total: withTotal(writeCharge(total)),
    },
  ];
  return (
    <Section title={title}>
      <DataTable
        label={`Numbers ${title.toLowerCase()}`}
        columns={columns}
        rows={series}
        keyOf={({ id }) => id}
        empty={null}
      />
    </Section>
  );
}

type BarTableProps = {
  title: string;
  bars: readonly UsageBar[];
  series: readonly Series[];
  total: MeasureText;
  onOpen(barId: string): void;
};

const rowsShownFirst = 10;

/** The chart's values as a table. */
export function BarTable({ title, bars, series, total, onOpen }: BarTableProps) {
  const [isWhole, setWhole] = useState(false);
  const filled = bars.filter(({ parts }) => parts.length > 0).toReversed();
  const shown = isWhole ? filled : filled.slice(0, rowsShownFirst);
  const isTotalShown = filled.length > 1;
  const writeColumn = (cells: readonly MeasureText[], sum: MeasureText) => {
    const decimals = countDecimals([...cells, ...(isTotalShown ? [sum] : [])].map(({ short }) => short));
    const write = ({ short, text }: MeasureText) => <MoneyCell figure={short} exact={text} decimals={decimals} />;
    return { write, total: isTotalShown ? write(sum) : undefined };
  };
  const totals = writeColumn(shown, total);
  const columns: Column<UsageBar>[] = [
    {
      name: "Time",
      total: isTotalShown ? "Total" : undefined,
      cell: ({ id, name }) => (
        <button
          type="button"
          className="font-medium whitespace-nowrap hover:text-accent hover:underline"
          onClick={() => onOpen(id)}
        >
          {name}
        </button>
      ),
    },
    ...(series.length < 2 ? [] : series).map((each): Column<UsageBar> => {
      const find = ({ parts }: UsageBar) => parts.find((part) => part.id === each.id);
      const column = writeColumn(
        shown.map(find).filter((part) => part !== undefined),
        each,
      );
      return {
        name: each.name,
        hasNames: true,
        align: "right",
        total: column.total,
        cell: (bar) => {
          const part = find(bar);
          return part === undefined ? <span className="text-ink-soft">–</span> : column.write(part);
        },
      };
    }),
    {
      name: "Total",
      align: "right",
      cell: (bar) => <span className="font-medium">{totals.write(bar)}</span>,
      total: totals.total,
    },
  ];
  return (
    <Section title={title} intro="The numbers of the chart. Periods without charges are left out.">
      <DataTable
        label={`Numbers ${title.toLowerCase()}`}
        columns={columns}
        rows={shown}
        keyOf={({ id }) => id}
        empty={null}
      />
      {shown.length < filled.length && (
        <div className="flex justify-center pt-2">
          <Button onClick={() => setWhole(true)}>Show all {filled.length}</Button>
        </div>
      )}
    </Section>
  );
}

/** Hide zeros of units that do not apply to a model. */
function writeCount(count: number) {
  return count === 0 ? <span className="text-ink-soft">–</span> : formatCount(count);
}
