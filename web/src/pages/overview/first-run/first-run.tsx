import { type ReactNode, useState } from "react";
import type { Model } from "../../../api/ask-catalog.ts";
import type { Charge } from "../../../api/ask-spending.ts";
import { queryTable } from "../../../api/query-table.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Button } from "../../../design/button.tsx";
import { Section } from "../../../design/section.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { writeTerminalSamples } from "../../../parts/samples/terminal-samples.ts";
import { CallWatch } from "./call-watch.tsx";
import { CreditStep } from "./credit-step.tsx";
import { chooseSample, FirstCallSamples } from "./first-call-samples.tsx";
import { KeyStep } from "./key-step.tsx";
import { useFirstKey } from "./use-first-key.ts";

/** Placeholder for an unknown key. */
const unknownKey = "sk-slc-…";

type FirstRunProps = {
  /** The newest charge, if any. */
  charge: Charge | undefined;
  /** The newest task, if that was the first call. */
  taskId: string | undefined;
  onHide(): void;
};

/** For an account without calls: credit, a key, a call to paste, and its outcome. */
export function FirstRun({ charge, taskId, onHide }: FirstRunProps) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: models } = useTableQuery(queryTable.models.list());
  const { data: keys } = useTableQuery(queryTable.keys.live());
  const [sampleId, setSampleId] = useState("curl");
  const callable = models?.data.filter(({ status }) => status !== "unavailable");
  const model = callable?.find(({ type }) => type === "chat") ?? callable?.[0];
  const write = (key: string) =>
    site === undefined || model === undefined
      ? null
      : writeTerminalSamples(model, { baseUrl: site.base_url, siteUrl: location.origin, key });
  const creation = useFirstKey((key) => {
    const samples = write(key);
    return samples === null ? key : chooseSample(samples, sampleId).code;
  });
  const { made } = creation;
  const known = keys?.data.find(({ kind }) => kind !== "console");
  const hasKey = made !== null || known !== undefined;
  const samples = write(made?.apiKey.key ?? unknownKey);
  return (
    <Section
      title="Make your first call"
      intro="Create a key, paste the call into a terminal, and watch it arrive."
      actions={
        charge === undefined && taskId === undefined ? undefined : (
          <Button look="quiet" className="-mr-2" onClick={onHide}>
            Hide
          </Button>
        )
      }
    >
      <div className="grid gap-x-10 gap-y-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.7fr)]">
        <div className="flex min-w-0 flex-col gap-4">
          <ol className="flex flex-col divide-y divide-line border-y border-line">
            <CreditStep />
            <KeyStep creation={creation} known={known} />
          </ol>
          <FormError message={creation.error} />
          <CallWatch hasKey={hasKey} charge={charge} taskId={taskId} />
        </div>
        <div className="min-w-0">
          {samples === null ? (
            <NoCall models={models?.data} />
          ) : (
            <FirstCallSamples samples={samples} chosenId={sampleId} onChoose={setSampleId} isComplete={hasKey} />
          )}
        </div>
      </div>
    </Section>
  );
}

function NoCall({ models }: { models: Model[] | undefined }): ReactNode {
  if (models === undefined || models.length > 0) return <Skeleton className="h-72 w-full" />;
  return <p className="text-sm text-ink-soft">No models yet: the operator decides which models accounts can use.</p>;
}
