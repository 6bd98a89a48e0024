import { getRouteApi, Link } from "@tanstack/react-router";
import type { Model, PriceList } from "../../api/fetch-catalog.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { describeModelStatus, nameCapability, nameType, typeNames } from "../../parts/format/model-labels.ts";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { ModelLogo } from "../../parts/records/model-logo.tsx";
import { Capabilities } from "./capabilities.tsx";
import { filterModels, type ModelFilter } from "./filter-models.ts";
import { PriceLines } from "./price-lines.tsx";

const route = getRouteApi("/signed-in/console/console/models/");

export function ModelsPage() {
  const [filter, change] = useSearchControls(route.useSearch(), route.useNavigate());
  const models = useTableQuery(queryTable.models.list());
  const prices = useTableQuery(queryTable.models.prices());
  const all = models.data?.data;
  const rows = all === undefined || prices.data === undefined ? undefined : filterModels(all, filter);
  const retry = () => {
    void models.refetch();
    void prices.refetch();
  };
  return (
    <ConsoleFrame
      title="Models and prices"
      intro={
        <>
          The models that your account can call, and their prices. Use the id as{" "}
          <code className="font-mono text-sm">model</code>.
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Filters filter={filter} models={all ?? []} onChange={change} />
        <DataTable
          label="Models"
          columns={listColumns(prices.data)}
          rows={rows}
          error={models.error ?? prices.error}
          onRetry={retry}
          keyOf={({ id }) => id}
          expectedRows={6}
          empty={
            <NoModels hasAny={(all?.length ?? 0) > 0} onClear={() => change({ type: "", capability: "", q: "" })} />
          }
        />
      </div>
    </ConsoleFrame>
  );
}

type FiltersProps = { filter: ModelFilter; models: readonly Model[]; onChange(part: ModelFilter): void };

function Filters({ filter, models, onChange }: FiltersProps) {
  const types = Object.keys(typeNames).filter(
    (type) => type === filter.type || models.some((each) => each.type === type),
  );
  const capabilities = new Set([
    ...(filter.capability === undefined ? [] : [filter.capability]),
    ...models.flatMap((model) => model.capabilities),
  ]);
  return (
    <search className="flex flex-wrap gap-3">
      <input
        type="search"
        aria-label="Search models"
        placeholder="Search models"
        maxLength={100}
        value={filter.q ?? ""}
        onChange={(event) => onChange({ q: event.target.value })}
        className="min-h-10 min-w-0 grow basis-56 rounded-md border border-line-strong bg-surface px-3 text-sm placeholder:text-ink-soft sm:max-w-80"
      />
      <SelectField
        label="Type"
        isCompact
        value={filter.type ?? ""}
        onChange={(type) => onChange({ type })}
        options={[{ value: "", label: "All types" }, ...types.map((type) => ({ value: type, label: nameType(type) }))]}
      />
      <SelectField
        label="Capability"
        isCompact
        value={filter.capability ?? ""}
        onChange={(capability) => onChange({ capability })}
        options={[
          { value: "", label: "All capabilities" },
          ...[...capabilities].map((each) => ({ value: each, label: nameCapability(each) })),
        ]}
      />
    </search>
  );
}

function listColumns(prices: PriceList | undefined): Column<Model>[] {
  return [
    { name: "Model", hasNames: true, cell: (model) => <ModelName model={model} /> },
    {
      name: "Type",
      isSecondary: true,
      cell: ({ type }) => <span className="whitespace-nowrap">{nameType(type)}</span>,
    },
    { name: "Capabilities", isSecondary: true, cell: ({ capabilities }) => <Capabilities names={capabilities} /> },
    {
      name: "Price",
      cell: ({ id }) =>
        prices === undefined ? null : (
          <PriceLines entries={prices.data.filter(({ model }) => model === id)} currency={prices.currency} />
        ),
    },
  ];
}

function ModelName({ model }: { model: Model }) {
  const { id, name, type, status } = model;
  const { kind, name: word } = describeModelStatus(status);
  return (
    <div className="flex min-w-36 flex-col items-start gap-1">
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <ModelLogo model={model} />
        <Link to="/console/models/$" params={{ _splat: id }} className="font-medium hover:text-accent hover:underline">
          {name}
        </Link>
        <Badge kind={kind}>{word}</Badge>
        <span className="text-xs text-ink-soft sm:hidden">{nameType(type)}</span>
      </span>
      <CopyableText text={id} label={`ID of ${name}`} />
    </div>
  );
}

function NoModels({ hasAny, onClear }: { hasAny: boolean; onClear(): void }) {
  if (hasAny) {
    return (
      <EmptyState title="No models match." action={<Button onClick={onClear}>Show all models</Button>}>
        Try fewer words, or another type or capability.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No models yet">
      The operator decides which models accounts can use. See{" "}
      <a href="/docs/guide" className={linkClasses}>
        the guide
      </a>{" "}
      to get started.
    </EmptyState>
  );
}
