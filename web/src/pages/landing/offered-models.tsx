import type { Showcase } from "../../api/fetch-showcase.ts";
import { Badge } from "../../design/badge.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { PageSection } from "../../design/page-section.tsx";
import { describeModelStatus, nameType, typeNames } from "../../parts/format/model-labels.ts";
import { ModelLogo } from "../../parts/records/model-logo.tsx";
import { PriceLines } from "../models/price-lines.tsx";

type OfferedModel = Showcase["models"][number];
type OfferedModelsProps = { showcase: Showcase | undefined; error: Error | null; onRetry(): void };

const typeOrder = Object.keys(typeNames);

/** Models and prices of a new account. */
export function OfferedModels({ showcase, error, onRetry }: OfferedModelsProps) {
  const rows = showcase?.models.toSorted((a, b) => typeOrder.indexOf(a.type) - typeOrder.indexOf(b.type));
  return (
    <PageSection title="Models and prices" intro="Current prices for a new account.">
      <DataTable
        label="List of models"
        columns={listColumns(showcase?.currency ?? "USD")}
        rows={rows}
        error={error}
        onRetry={onRetry}
        keyOf={({ id }) => id}
        expectedRows={6}
        empty={<EmptyState title="No models yet">The operator has not added any models.</EmptyState>}
      />
    </PageSection>
  );
}

function listColumns(currency: string): Column<OfferedModel>[] {
  return [
    { name: "Model", hasNames: true, cell: (model) => <OfferedModelName model={model} /> },
    { name: "Type", isSecondary: true, cell: ({ type }) => nameType(type) },
    {
      name: "Description",
      hasNames: true,
      isSecondary: true,
      cell: ({ description }) => <p className="max-w-80 min-w-48 text-ink-soft">{description}</p>,
    },
    { name: "Price", cell: ({ prices }) => <PriceLines entries={prices} currency={currency} /> },
  ];
}

/** Only unavailable models have a badge; the footer shows the service status. */
function OfferedModelName({ model: { id, name, type, status } }: { model: OfferedModel }) {
  const { kind, name: word } = describeModelStatus(status);
  return (
    <div className="flex min-w-38 items-start gap-3">
      <ModelLogo model={{ logo: "", type }} className="mt-0.5 size-8 max-sm:size-6" />
      <div className="flex flex-col items-start gap-1">
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium">{name}</span>
          {status !== "available" && <Badge kind={kind}>{word}</Badge>}
          <span className="text-xs text-ink-soft sm:hidden">{nameType(type)}</span>
        </span>
        <code className="font-mono text-xs text-ink-soft">{id}</code>
      </div>
    </div>
  );
}
