import { getRouteApi } from "@tanstack/react-router";
import { startTransition, useOptimistic, useState } from "react";
import type { NewApiKey } from "../../api/ask-keys.ts";
import { api, ask } from "../../api/console-api.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { Button } from "../../design/button.tsx";
import { CheckField } from "../../design/check-field.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { useToast } from "../../design/toast.tsx";
import { ConsoleFrame } from "../../parts/console-frame.tsx";
import { useReauthentication } from "../../parts/reauthentication.tsx";
import { emptyKeyValues } from "./key-fields.ts";
import { KeyForm } from "./key-form.tsx";
import { KeyTable } from "./key-table.tsx";
import { type KeyDeed, ManageKey } from "./manage-key.tsx";
import { PlainKeyDialog } from "./plain-key-dialog.tsx";

const route = getRouteApi("/signed-in/console/console/keys");
const newKey = "new";
const deeds = ["edit", "rotate", "revoke"] as const satisfies readonly KeyDeed[];

/** What is open is in the address, so that whoever has to sign in again comes back to it. */
export function KeysPage() {
  const { ended } = route.useSearch();
  const navigate = route.useNavigate();
  // The box answers the click at once; the address, which decides, follows when the router gets to it.
  const [showsEnded, showEndedAtOnce] = useOptimistic(ended !== undefined);
  const showEnded = (isShown: boolean) =>
    startTransition(async () => {
      showEndedAtOnce(isShown);
      await navigate({
        search: ({ ended: _, ...last }) => ({ ...last, ...(isShown ? { ended: "1" } : {}) }),
        replace: true,
      });
    });
  const begin = () => void navigate({ search: (last) => ({ ...last, key: newKey }) });
  const create = (
    <Button look="primary" onClick={begin}>
      <Icon name="plus" />
      Create a key
    </Button>
  );
  return (
    <ConsoleFrame
      title="API keys"
      intro="Each call of the API is made with a key. Give every program its own, so that you can see what it spends and end it alone."
      actions={create}
    >
      <div className="flex flex-col gap-6">
        <KeyTable
          label="API keys"
          status="live"
          empty={
            <EmptyState title="You have no key yet." action={create}>
              A key lets your programs call the API. It is shown once, when it is made.
            </EmptyState>
          }
        />
        <CheckField label="Show keys that have ended" isChecked={showsEnded} onChange={showEnded} />
        {ended !== undefined && (
          <section aria-labelledby="ended-keys" className="flex flex-col gap-3">
            <h2 id="ended-keys" className="text-lg font-semibold">
              Ended keys
            </h2>
            <KeyTable
              label="Ended keys"
              status="ended"
              empty={<EmptyState title="No key has ended.">Revoked and expired keys stand here.</EmptyState>}
            />
          </section>
        )}
      </div>
      <OpenKey />
    </ConsoleFrame>
  );
}

function OpenKey() {
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
  if (made !== null) return <PlainKeyDialog made={made} onKept={() => setMade(null)} />;
  if (key === undefined) return null;
  if (key === newKey) {
    return (
      <Dialog title="Create a key" size="wide" onClose={close}>
        <KeyForm
          apiKey={null}
          initial={emptyKeyValues}
          submitName="Create the key"
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
