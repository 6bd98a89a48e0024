import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CodeSamples } from "../../design/code-block.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { type SampleType, writeRequestSamples } from "../../parts/samples/code-samples.ts";
import { shortenImages } from "./shorten-images.ts";

/** The current form as code. */
export function RequestCode({ type, body }: { type: SampleType; body: Record<string, unknown> }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  if (site === undefined) return <Skeleton className="h-64" />;
  const shown = shortenImages(body) as Record<string, unknown>;
  return (
    <section aria-label="Code" className="flex flex-col gap-2">
      <CodeSamples
        label="This request as code"
        samples={writeRequestSamples({ type, body: shown, baseUrl: site.base_url })}
      />
      <p className="text-sm text-ink-soft">
        Set <code className="font-mono">SLUICE_API_KEY</code> to one of your API keys.
      </p>
    </section>
  );
}
