import { useState } from "react";
import { api, ask } from "../../../api/console-api.ts";
import type { NewApiKey } from "../../../api/fetch-keys.ts";
import { useQueryCache } from "../../../api/use-query-cache.ts";
import { useAction } from "../../../parts/forms/use-action.ts";
import { useReauthentication } from "../../../parts/session/reauthentication.tsx";

const keyName = "First key";

type FirstKey = { apiKey: NewApiKey; isCopied: boolean };

export type KeyCreation = { made: FirstKey | null; isBusy: boolean; error: string | null; run(): void };

/** One click creates the key and copies the call with it. The key exists only in this page's memory. */
export function useFirstKey(writeCall: (key: string) => string): KeyCreation {
  const answers = useQueryCache();
  const repeat = useReauthentication();
  const [made, setMade] = useState<FirstKey | null>(null);
  const action = useAction(
    async () => {
      const creating = repeat(() => ask(api.POST("/keys", { body: { name: keyName } })));
      const copying = copyWhenKnown(creating.then(({ key }) => writeCall(key)));
      return { apiKey: await creating, isCopied: await copying };
    },
    (key) => {
      setMade(key);
      void answers.refresh("keys");
    },
  );
  return { made, isBusy: action.isBusy, error: action.errorBeside(), run: () => action.run(undefined) };
}

/**
 * Copies a text that is still loading. Browsers allow clipboard writes only during a click, so the write starts with a
 * promise. Returns whether it worked; the page shows the text either way.
 */
async function copyWhenKnown(text: Promise<string>): Promise<boolean> {
  try {
    const blob = text.then((known) => new Blob([known], { type: "text/plain" }));
    // Without a clipboard nothing else handles a rejection.
    blob.catch(() => {});
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    return true;
  } catch {
    return false;
  }
}
