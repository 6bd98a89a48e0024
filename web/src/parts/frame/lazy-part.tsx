import { type ComponentType, type ReactNode, useEffect, useState } from "react";
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
  let loading: Promise<ComponentType<Props>> | null = null;
  const loadOnce = (): Promise<ComponentType<Props>> => {
    loading ??= loadPatiently(load)
      .then((part) => {
        loaded = part;
        return part;
      })
      .finally(() => {
        loading = null;
      });
    return loading;
  };
  // Without Suspense, which shows `waiting` for at least 300 ms.
  function Part(props: Props) {
    const [Now, show] = useState(() => loaded);
    useEffect(() => {
      if (Now !== null) return;
      const fail = (cause: unknown): never => {
        throw cause;
      };
      loadOnce().then(
        (part) => show(() => part),
        // Thrown while rendering, so the page reports it.
        (cause) => show(() => fail(cause)),
      );
    }, [Now]);
    if (Now !== null) return <Now {...props} />;
    return typeof waiting === "function" ? waiting(props) : waiting;
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
