import { type ReactNode, useEffect, useRef } from "react";
import type { ChargeFilter, Usage } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { ChoiceField } from "../../design/choice-field.tsx";
import { DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LazyBarChart } from "../../design/lazy-bar-chart.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Section } from "../../design/section.tsx";
import type { SelectOption } from "../../design/select-field.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import { Money } from "../../parts/format/money.tsx";
import { writeTick } from "../../parts/format/write-tick.ts";
import { listChargeColumns } from "../../parts/records/charge-columns.tsx";
import { type ArrangedUsage, addSums, arrangeUsage, isNamed } from "./arrange-usage.ts";
import { BarTable, SeriesTable } from "./usage-tables.tsx";
import type { UsageView } from "./usage-view.ts";

/** `bar` is one of the chart's, or `allBars`. */
type Opening = { bar: string | null; part: string | null };

const allBars = "all";

type UsageReportProps = {
  usage: Usage;
  view: UsageView;
  nameOf(id: string): string;
  open: Opening;
  onOpen(opening: Opening): void;
};

/** Chart, tables, and the charges behind the selection. */
export function UsageReport({ usage, view, nameOf, open, onOpen }: UsageReportProps) {
  const { by, show, cut } = view;
  const arranged = arrangeUsage(usage, { by, show, cut, nameOf });
  const { bars, series, total } = arranged;
  const kind = by === "model" ? "model" : "key";
  const openBar = (bar: string, part: string | null) =>
    onOpen({ bar, part: part !== null && isNamed(part) ? part : null });
  return (
    <>
      <div className="flex flex-col gap-3">
        <LazyBarChart
          label={`${measureWords[show]} by ${cut} and ${kind}. Use arrow keys to move between bars and Enter to open one.`}
          bars={bars}
          isWhole={show !== "charge"}
          writeTick={(value) => writeTick(value, show === "charge" ? usage.currency : null)}
          openId={open.bar ?? undefined}
          onOpen={openBar}
        />
        <div className="flex flex-wrap items-center justify-between gap-x-6 text-sm text-ink-soft">
          <p>Select a bar to see its charges.</p>
          <Button look="quiet" className="-mr-2 max-sm:-ml-2" onClick={() => onOpen({ bar: allBars, part: null })}>
            See all charges
          </Button>
        </div>
      </div>
      <OpenedCharges usage={usage} view={view} arranged={arranged} open={open} onOpen={onOpen} />
      <SeriesTable
        title={`By ${kind}`}
        name={by === "model" ? "Model" : "Key"}
        series={series}
        currency={usage.currency}
        onOpen={(part) => onOpen({ bar: allBars, part })}
      />
      <BarTable
        title={`By ${cut}`}
        bars={bars}
        series={series}
        total={total}
        onOpen={(bar) => onOpen({ bar, part: null })}
      />
    </>
  );
}

const measureWords = { charge: "Charges", calls: "Calls", tokens: "Tokens" } as const;

type OpenedProps = Pick<UsageReportProps, "usage" | "view" | "open" | "onOpen"> & { arranged: ArrangedUsage };

/** Nothing if nothing is open, or if the URL names an unknown bar. */
function OpenedCharges({ usage, view, arranged, open, onOpen }: OpenedProps) {
  const period = open.bar === allBars ? { from: usage.from, to: usage.to } : arranged.periods.get(open.bar ?? "");
  const name = open.bar === allBars ? "this period" : arranged.bars.find(({ id }) => id === open.bar)?.name;
  if (open.bar === null || period === undefined || name === undefined) return null;
  const inBar = usage.data.filter((row) => open.bar === allBars || row.from === period.from);
  const ofPart = (part: string | null) =>
    part === null ? inBar : inBar.filter((row) => (view.by === "model" ? row.model : row.key_id) === part);
  const ids = new Set(inBar.flatMap((row) => (view.by === "model" ? row.model : row.key_id) ?? []));
  const part = open.part !== null && ids.has(open.part) ? open.part : null;
  const { calls, charge } = addSums(ofPart(part));
  const nameOf = (id: string): string => arranged.names.get(id) ?? id;
  return (
    <ChargesPanel
      title={`Charges of ${name}`}
      sum={
        <>
          {formatCount(calls)} {calls === 1 ? "charge" : "charges"}, <Money amount={charge} currency={usage.currency} />{" "}
          total
        </>
      }
      filter={narrow(view, { ...period, part })}
      timeZone={usage.time_zone}
      currency={usage.currency}
      part={part ?? ""}
      parts={[
        { value: "", label: view.by === "model" ? "All models" : "All keys" },
        ...[...ids].map((id) => ({ value: id, label: nameOf(id) })),
      ]}
      onPart={(id) => onOpen({ bar: open.bar, part: id === "" ? null : id })}
      onClose={() => onOpen({ bar: null, part: null })}
    />
  );
}

function narrow(view: UsageView, { from, to, part }: { from: string; to: string; part: string | null }): ChargeFilter {
  const { model, key_id: keyId } = view.filter;
  return {
    ...{ from, to },
    ...(model === undefined ? {} : { model }),
    ...(keyId === undefined ? {} : { key_id: keyId }),
    ...(part === null ? {} : view.by === "model" ? { model: part } : { key_id: part }),
  };
}

type ChargesPanelProps = {
  title: string;
  sum: ReactNode;
  filter: ChargeFilter;
  timeZone: string;
  currency: string;
  part: string;
  parts: readonly SelectOption[];
  onPart(part: string): void;
  onClose(): void;
};

/** Exactly the charges behind a bar. */
function ChargesPanel(props: ChargesPanelProps) {
  const { title, sum, filter, timeZone, currency, part, parts, onPart, onClose } = props;
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const { rows, more, ...charges } = usePageQuery(queryTable.charges.list(filter));
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new title means another bar was opened.
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: "nearest" });
  }, [title]);
  return (
    <Section
      title={title}
      headingRef={heading}
      intro={sum}
      actions={
        <>
          {parts.length > 2 && <ChoiceField label="Part" value={part} onChange={onPart} options={parts} />}
          <Button onClick={onClose}>Close</Button>
        </>
      }
    >
      <DataTable
        label="Charges"
        columns={listChargeColumns({ timeZone, currency, keyNames, rows })}
        rows={rows}
        {...charges}
        keyOf={({ id }) => id}
        expectedRows={4}
        empty={<EmptyState title="No charges" />}
      />
      <LoadMore {...more} />
    </Section>
  );
}
