import type { Showcase } from "../../api/fetch-showcase.ts";
import { CodeSamples } from "../../design/code-block.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { writeModelSamples } from "../../parts/samples/code-samples.ts";

type OfferedCallProps = { showcase: Showcase | undefined; error: Error | null; onRetry(): void };

/** A call that works with any key. Prefers a chat model. */
export function OfferedCall({ showcase, error, onRetry }: OfferedCallProps) {
  if (showcase === undefined) {
    if (error !== null) return <LoadFailure title="Could not load the first call." error={error} onRetry={onRetry} />;
    return <Skeleton className="h-80" />;
  }
  const model = showcase.models.find(({ type }) => type === "chat") ?? showcase.models[0];
  if (model === undefined) return null;
  return (
    <section aria-label="A first call" className="min-w-0 lg:min-h-80">
      <CodeSamples label="A first call" samples={writeModelSamples(model, showcase.base_url)} />
    </section>
  );
}
