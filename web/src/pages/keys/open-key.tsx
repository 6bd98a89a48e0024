import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { NewApiKey } from "../../api/ask-keys.ts";
import { api, ask } from "../../api/console-api.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { Dialog } from "../../design/dialog.tsx";
import { useToast } from "../../design/toast.tsx";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { emptyKeyValues } from "./key-fields.ts";
import { KeyForm } from "./key-form.tsx";
import { newKey } from "./key-words.ts";
import { type KeyDeed, ManageKey } from "./manage-key.tsx";
import { PlainKeyDialog } from "./plain-key-dialog.tsx";

const route = getRouteApi("/signed-in/console/console/keys");
const deeds = ["edit", "rotate", "revoke"] as const satisfies readonly KeyDeed[];

/** Shows the key that the URL names, or the form for a new one. */
export function OpenKey() {
  const { key, do: deed, ended } = route.useSearch();
  const navigate = route.useNavigate();
  const answers = useAnswerCache();
  const repeat = useReauthentication();
  const showToast = useToast();
  const [made, setMade] = useState<NewApiKey | null>(null);
  const close = () => void navigate({ search: ended === undefined ? {} : { ended } });
  const finish = () => {
    close();
    return answers.refresh("keys");
  };
  const showMade = (next: NewApiKey) => {
    setMade(next);
    void finish();
  };
  if (made !== null) return <PlainKeyDialog made={made} onDone={() => setMade(null)} />;
  if (key === undefined) return null;
  if (key === newKey) {
    return (
      <Dialog title="Create an API key" size="wide" onClose={close}>
        <KeyForm
          apiKey={null}
          initial={emptyKeyValues}
          submitName="Create"
          send={(body) => repeat(() => ask(api.POST("/keys", { body })))}
          onDone={showMade}
          onGivenUp={close}
        />
      </Dialog>
    );
  }
  return (
    <ManageKey
      id={key}
      deed={deeds.find((each) => each === deed) ?? null}
      onDeed={(next) => void navigate({ search: (last) => ({ ...last, key, do: next ?? "" }), replace: true })}
      onChanged={(sentence) => {
        showToast(sentence);
        void finish();
      }}
      onMade={showMade}
      onClose={close}
    />
  );
}
