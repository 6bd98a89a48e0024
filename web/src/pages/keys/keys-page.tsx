import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { NewApiKey } from "../../api/ask-keys.ts";
import { api, ask } from "../../api/console-api.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { Button } from "../../design/button.tsx";
import { CheckField } from "../../design/check-field.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { useToast } from "../../design/toast.tsx";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { emptyKeyValues } from "./key-fields.ts";
import { KeyForm } from "./key-form.tsx";
import { KeyTable } from "./key-table.tsx";
import { type KeyDeed, ManageKey } from "./manage-key.tsx";
import { PlainKeyDialog } from "./plain-key-dialog.tsx";

const route = getRouteApi("/signed-in/console/console/keys");
const newKey = "new";
const deeds = ["edit", "rotate", "revoke"] as const satisfies readonly KeyDeed[];

/** What is open is in the address, so that it survives signing in again. */
export function KeysPage() {
  const navigate = route.useNavigate();
  const [{ ended }, change] = useSearchControls(route.useSearch(), navigate);
  const begin = () => void navigate({ search: (last) => ({ ...last, key: newKey }) });
  const create = (
    <Button look="primary" onClick={begin}>
      <Icon name="plus" />
      Create key
    </Button>
  );
  return (
    <ConsoleFrame
      title="API keys"
      intro="API keys authenticate your requests. Create one for each program, so that you can see its spending and revoke it alone."
      actions={create}
    >
      <div className="flex flex-col gap-6">
        <KeyTable
          label="API keys"
          status="live"
          empty={
            <EmptyState title="No API keys yet" action={create}>
              A key authenticates your requests. It is shown once, when it is created.
            </EmptyState>
          }
        />
        <CheckField
          label="Show expired and revoked"
          isChecked={ended !== undefined}
          onChange={(isShown) => change({ ended: isShown ? "1" : "" })}
        />
        {ended !== undefined && (
          <section aria-labelledby="ended-keys" className="flex flex-col gap-3">
            <h2 id="ended-keys" className="text-lg font-semibold">
              Expired and revoked keys
            </h2>
            <KeyTable
              label="Expired and revoked keys"
              status="ended"
              empty={
                <EmptyState title="No expired or revoked keys">
                  Keys appear here when they expire or are revoked.
                </EmptyState>
              }
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
