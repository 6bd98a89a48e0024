import { Link } from "@tanstack/react-router";
import type { Charge } from "../../api/ask-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Section } from "../../design/section.tsx";
import { listChargeColumns } from "../../parts/records/charge-columns.tsx";

type LatestChargesProps = { rows: Charge[] | undefined; error: Error | null; onRetry(): void; timeZone: string };

export function LatestCharges({ rows, error, onRetry, timeZone }: LatestChargesProps) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const columns = listChargeColumns({ timeZone, currency: site?.currency, keyNames });
  return (
    <Section
      title="Latest calls"
      actions={
        <Link to="/console/usage" search={{ bar: "all" }} className={buttonClasses("quiet", "-mr-2")}>
          See all
        </Link>
      }
    >
      <DataTable
        label="List of the latest calls"
        columns={columns.filter(({ name }) => name !== "Key")}
        rows={rows}
        error={error}
        onRetry={onRetry}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No calls yet">Calls appear here when they end.</EmptyState>}
      />
    </Section>
  );
}
