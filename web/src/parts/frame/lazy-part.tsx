import { type ComponentType, lazy, type ReactNode, Suspense, useState } from "react";
import { computeBackoffMs } from "../../api/compute-backoff.ts";
import { connection } from "../../api/console-api.ts";

const triesMax = 6;

/** `preload` starts loading before the first render, which retries. */
type LazyPart<Props> = ((props: Props) => ReactNode) & { preload(): void };

/**
 * A part that is loaded after the page, with `waiting` as placeholder, which may depend on the part's properties.
 * Retries while the server is unreachable.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  waiting: ReactNode | ((props: Props) => ReactNode) = null,
): LazyPart<Props> {
  let loaded: ComponentType<Props> | null = null;
  const loadOnce = async () => {
    loaded ??= await loadPatiently(load);
    return { default: loaded };
  };
  const Later = lazy(loadOnce);
  function Part(props: Props) {
    // A part that has loaded never suspends: React would show `waiting` for at least 300 ms.
    const [Now] = useState(() => loaded);
    if (Now !== null) return <Now {...props} />;
    return (
      <Suspense fallback={typeof waiting === "function" ? waiting(props) : waiting}>
        <Later {...props} />
      </Suspense>
    );
  }
  return Object.assign(Part, { preload: () => void loadOnce().catch(() => {}) });
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
