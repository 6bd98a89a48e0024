import { queryTable } from "../../../api/query-table.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { Section } from "../../../design/section.tsx";
import { formatCount, formatMoney } from "../../../parts/format/format-money.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { AdminLink } from "../admin-place.tsx";
import type { CatalogSimulation } from "../fetch-admin.ts";

/** What the last month's charges would have been. */
export function SimulationView({ simulation }: { simulation: CatalogSimulation }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const present = (amount: string) => (site === undefined ? amount : formatMoney(amount, site.currency));
  const { total, kept } = simulation;
  const unsure =
    kept === 0 ? "" : ` ${formatCount(kept)} calls keep their amount: their stored usage does not decide it.`;
  return (
    <Section
      title="What if"
      intro={`The last 30 days: ${formatCount(total.calls)} calls, ${present(total.charged)} charged, ${present(total.simulated)} with this catalog (${present(total.change)}). Margin ${present(total.margin)}.${unsure}`}
    >
      <DataTable
        label="By model"
        columns={[
          { name: "Model", hasNames: true, cell: ({ model }) => model },
          ...listColumns<CatalogSimulation["models"][number]>(present),
        ]}
        rows={simulation.models}
        keyOf={({ model }) => model}
        empty={<EmptyState title="No calls were charged in the last 30 days." />}
      />
      {simulation.accounts.length > 0 && (
        <DataTable
          label="Accounts that change most"
          columns={[
            {
              name: "Account",
              hasNames: true,
              cell: ({ account_id: id }) => (
                <AdminLink to={`accounts/${id}`} className={linkClasses}>
                  {id}
                </AdminLink>
              ),
            },
            ...listColumns<CatalogSimulation["accounts"][number]>(present),
          ]}
          rows={simulation.accounts}
          keyOf={({ account_id: id }) => id}
          empty={null}
        />
      )}
    </Section>
  );
}

type Sums = { calls: number; charged: string; simulated: string; change: string };

function listColumns<Row extends Sums>(present: (amount: string) => string): Column<Row>[] {
  return [
    { name: "Calls", align: "right", isSecondary: true, cell: ({ calls }) => formatCount(calls) },
    { name: "Charged", align: "right", isSecondary: true, cell: ({ charged }) => present(charged) },
    { name: "With this", align: "right", cell: ({ simulated }) => present(simulated) },
    { name: "Change", align: "right", cell: ({ change }) => present(change) },
  ];
}
