import { type ComponentType, type ReactNode, use, useEffect, useReducer, useState } from "react";
import { computeBackoffMs } from "../../api/compute-backoff.ts";
import { connection } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { Notice } from "../../design/notice.tsx";
import { MessageFrame } from "./message-frame.tsx";
import { useIsReconnecting, useOnReconnected } from "./use-connection.ts";

const triesBeforeReload = 1;
const reloadedKey = "sluice-reloaded-for";

type LazyPage = (() => ReactNode) & { preload(): Promise<void> };

/**
 * A page whose code loads on first open, with retries. After a deployment the file names change, and only a reload
 * finds the new ones.
 */
export function lazyPage<Module, Name extends string & keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): LazyPage {
  let Page: ComponentType | null = null;
  let hasFailed = false;
  let loading: Promise<void> | null = null;

  const preload = (): Promise<void> => {
    loading ??= load()
      .then(
        (module) => {
          // Typed loosely: page types depend on the routes, and routes on the pages.
          Page = module[name] as ComponentType;
          if (sessionStorage.getItem(reloadedKey) === name) sessionStorage.removeItem(reloadedKey);
        },
        () => {
          hasFailed = true;
          connection.suspect();
        },
      )
      .finally(() => {
        loading = null;
      });
    return loading;
  };

  function LoadedPage() {
    const [, lookAgain] = useReducer((looks: number) => looks + 1, 0);
    if (Page !== null) return <Page />;
    if (!hasFailed) use(preload());
    return <UnloadedPage name={name} load={preload} onTried={lookAgain} />;
  }
  return Object.assign(LoadedPage, { preload });
}

type UnloadedPageProps = { name: string; load(): Promise<void>; onTried(): void };

/** Shown while a page's code fails to load. */
function UnloadedPage({ name, load, onTried }: UnloadedPageProps) {
  const [tries, setTries] = useState(0);
  const isReconnecting = useIsReconnecting();
  const retry = () => void load().then(onTried);
  useOnReconnected(retry);
  useEffect(() => {
    if (isReconnecting) return;
    const tryAgain = async () => {
      if (tries === triesBeforeReload && sessionStorage.getItem(reloadedKey) !== name) {
        // Once only. Nothing is lost: the previous page is already left.
        sessionStorage.setItem(reloadedKey, name);
        location.reload();
        return;
      }
      await load();
      onTried();
      setTries(tries + 1);
    };
    const timer = setTimeout(tryAgain, computeBackoffMs(tries, Math.random));
    return () => clearTimeout(timer);
  }, [tries, isReconnecting, name, load, onTried]);
  if (isReconnecting) {
    return (
      <MessageFrame title="This page could not be loaded">
        <Notice kind="warning" title="The server cannot be reached.">
          <p>The page opens automatically when the server is back.</p>
        </Notice>
      </MessageFrame>
    );
  }
  return (
    <MessageFrame title="This page could not be loaded">
      <Notice kind="warning" title="Trying again…">
        <p>The site may have been updated. Reload to get the new version.</p>
      </Notice>
      <div className="flex flex-wrap gap-3">
        <Button look="primary" onClick={retry}>
          Try again
        </Button>
        <Button onClick={() => location.reload()}>Reload</Button>
      </div>
    </MessageFrame>
  );
}
