import { type ComponentType, lazy, type ReactNode, Suspense } from "react";
import { computeBackoffMs } from "../../api/compute-backoff.ts";
import { connection } from "../../api/console-api.ts";

const triesMax = 6;

/**
 * A part below the fold, loaded after the page, with `waiting` as placeholder. Retries while the server is unreachable.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  waiting: ReactNode = null,
): (props: Props) => ReactNode {
  const Part = lazy(async () => ({ default: await loadPatiently(load) }));
  return (props) => (
    <Suspense fallback={waiting}>
      <Part {...props} />
    </Suspense>
  );
}

async function loadPatiently<Loaded>(load: () => Promise<Loaded>, tries = 1): Promise<Loaded> {
  try {
    return await load();
  } catch (cause) {
    connection.suspect();
    if (tries === triesMax) throw cause;
    await new Promise((pass) => setTimeout(pass, computeBackoffMs(tries, Math.random)));
    return await loadPatiently(load, tries + 1);
  }
}
