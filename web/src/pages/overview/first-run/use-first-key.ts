import { useState } from "react";
import type { NewApiKey } from "../../../api/ask-keys.ts";
import { api, ask } from "../../../api/console-api.ts";
import { useAnswerCache } from "../../../api/use-answer-cache.ts";
import { useAction } from "../../../parts/forms/use-action.ts";
import { useReauthentication } from "../../../parts/session/reauthentication.tsx";
import { copyWhenKnown } from "./copy-when-known.ts";

const keyName = "First key";

type FirstKey = { apiKey: NewApiKey; isCopied: boolean };

export type KeyCreation = { made: FirstKey | null; isBusy: boolean; error: string | null; run(): void };

/** One click creates the key and copies the call with it. The key exists only in this page's memory. */
export function useFirstKey(writeCall: (key: string) => string): KeyCreation {
  const answers = useAnswerCache();
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
