import { useEffect, useRef } from "react";
import type { ChargeFilter } from "../../api/ask-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { ChoiceField } from "../../design/choice-field.tsx";
import { DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Section } from "../../design/section.tsx";
import type { SelectOption } from "../../design/select-field.tsx";
import { listChargeColumns } from "../../parts/records/charge-columns.tsx";

type ChargesPanelProps = {
  title: string;
  sum: string;
  filter: ChargeFilter;
  timeZone: string;
  currency: string;
  part: string;
  parts: readonly SelectOption[];
  onPart(part: string): void;
  onClose(): void;
};

/** Exactly the charges behind a bar. */
export function ChargesPanel(props: ChargesPanelProps) {
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
        columns={listChargeColumns({ timeZone, currency, keyNames })}
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
