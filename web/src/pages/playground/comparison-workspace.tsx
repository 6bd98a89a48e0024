import type { Model, PriceList } from "../../api/fetch-catalog.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQueries } from "../../api/use-table-query.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { ChatComparison } from "./chat-comparison.tsx";
import type { InputUse } from "./list-input-uses.ts";
import { MediaComparison } from "./media-comparison.tsx";
import type { KeptFile } from "./media-values.ts";
import type { Forms } from "./use-forms.ts";
import { isMedia } from "./workspace.tsx";

type ComparisonWorkspaceProps = {
  ids: readonly string[];
  models: readonly Model[];
  prices: PriceList;
  forms: Forms;
  onUse(use: InputUse, file: KeptFile): void;
};

export function ComparisonWorkspace({ ids, models, prices, forms, onUse }: ComparisonWorkspaceProps) {
  const details = useTableQueries(ids.map((id) => queryTable.models.one(id)));
  const failed = details.find(({ error }) => error !== null);
  const known = details.flatMap(({ data }) => data ?? []);
  if (failed?.error != null) return <LoadFailure error={failed.error} onRetry={() => void failed.refetch()} />;
  if (known.length < ids.length) return <Skeleton className="h-96" />;
  const [first, ...rest] = known.filter(isMedia);
  if (first === undefined) return <ChatComparison models={known} currency={prices.currency} />;
  const { type } = first;
  return (
    <MediaComparison
      models={[first, ...rest]}
      all={models}
      {...{ prices, onUse }}
      form={{
        values: forms.read(type).values,
        onChange: (name, value) => forms.change(type, name, value),
        onFill: (values) => forms.fill(type, values),
      }}
    />
  );
}

/** Dramas have stages and need a webhook, so they cannot be compared. */
export function canCompare(models: readonly Model[], type: Model["type"]): boolean {
  const isComparable = !["embedding", "transcription", "drama"].includes(type);
  return isComparable && models.filter((model) => model.type === type).length > 1;
}
