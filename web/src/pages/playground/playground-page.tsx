import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";

const route = getRouteApi("/signed-in/console/console/playground");

const Workbench = lazyPart(async () => (await import("./workbench.tsx")).Workbench, <Waiting />);
Workbench.preload();

/**
 * The URL selects the model (`model`), others to compare (`compare`), and the input: a task's request (`task`) or a
 * file (`input`).
 */
export function PlaygroundPage() {
  const models = useTableQuery(queryTable.models.list());
  const [search, change] = useSearchControls(route.useSearch(), route.useNavigate());
  const [isCodeShown, setCodeShown] = useState(false);
  const hasModels = models.data !== undefined && models.data.data.length > 0;
  return (
    <ConsoleFrame
      title="Playground"
      intro="Try any model. Calls cost the same as through the API."
      actions={
        <Button aria-expanded={isCodeShown} onClick={() => setCodeShown(!isCodeShown)} isDisabled={!hasModels}>
          {isCodeShown ? "Hide code" : "Show code"}
        </Button>
      }
    >
      {models.isError && <LoadFailure error={models.error} onRetry={() => void models.refetch()} />}
      {models.isPending && <Waiting />}
      {models.data?.data.length === 0 && (
        <EmptyState title="No models yet">The operator has not added any models.</EmptyState>
      )}
      {models.data !== undefined && hasModels && (
        <Workbench models={models.data.data} search={search} onSearch={change} isCodeShown={isCodeShown} />
      )}
    </ConsoleFrame>
  );
}

function Waiting() {
  return (
    <div aria-busy="true" className="flex flex-col gap-8">
      <Skeleton className="h-19" />
      <Skeleton className="h-96" />
    </div>
  );
}
