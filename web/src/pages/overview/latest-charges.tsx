import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { siteQuery } from "../../api/session-query.ts";
import { type Charge, keyNamesQuery } from "../../api/spending-queries.ts";
import { buttonClasses } from "../../design/button.tsx";
import { DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Section } from "../../design/section.tsx";
import { listChargeColumns } from "../../parts/charge-columns.tsx";

type LatestChargesProps = { rows: Charge[] | undefined; error: Error | null; onRetry(): void; timeZone: string };

/** The calls and tasks that were charged for last. */
export function LatestCharges({ rows, error, onRetry, timeZone }: LatestChargesProps) {
  const { data: site } = useQuery(siteQuery);
  const { data: keyNames } = useQuery(keyNamesQuery);
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
        empty={<EmptyState title="No call was charged yet.">A call stands here as soon as it has ended.</EmptyState>}
      />
    </Section>
  );
}
