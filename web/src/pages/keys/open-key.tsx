import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { Model } from "../../api/fetch-catalog.ts";
import type { NewApiKey } from "../../api/fetch-keys.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { CodeBlock } from "../../design/code-block.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Notice } from "../../design/notice.tsx";
import { SecretText } from "../../design/secret-text.tsx";
import { useToast } from "../../design/toast.tsx";
import { writeModelSamples } from "../../parts/samples/code-samples.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { emptyKeyValues } from "./key-fields.ts";
import { KeyForm } from "./key-form.tsx";
import { newKey } from "./key-labels.ts";
import { type KeyDeed, ManageKey } from "./manage-key.tsx";

const route = getRouteApi("/signed-in/console/console/keys");
const deeds = ["edit", "rotate", "revoke"] as const satisfies readonly KeyDeed[];

/** Shows the key that the URL names, or the form for a new one. */
export function OpenKey() {
  const { key, do: deed, ended } = route.useSearch();
  const navigate = route.useNavigate();
  const answers = useQueryCache();
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

type PlainKeyDialogProps = { made: NewApiKey; onDone(): void };

/** The only time a key is shown. It exists only in this page's memory. */
function PlainKeyDialog({ made, onDone }: PlainKeyDialogProps) {
  const [isWarned, setWarned] = useState(false);
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: models } = useTableQuery(queryTable.models.list());
  return (
    <Dialog
      title={`Save your key “${made.name}”`}
      size="wide"
      // An accidental Escape must not lose the key.
      onClose={() => (isWarned ? onDone() : setWarned(true))}
    >
      <Notice kind="warning">
        The key is shown only once. Anyone who has it can spend your balance: store it on a server or in a secret
        manager, never in a web page, an app or a repository.
      </Notice>
      <SecretText label="Your new key" text={made.key} />
      {site !== undefined && models !== undefined && (
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">First call</h3>
          <CodeBlock label="First call" code={writeFirstCall(made, { baseUrl: site.base_url, models: models.data })} />
        </div>
      )}
      {isWarned && (
        <Notice kind="error">Press Escape again only if you have saved the key. It cannot be shown again.</Notice>
      )}
      <div className="flex justify-end">
        <Button look="primary" onClick={onDone}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

type Surroundings = { baseUrl: string; models: readonly Pick<Model, "id" | "type" | "capabilities">[] };

/**
 * A call to paste into a terminal: chat if the key may chat, else the list of models. The key goes into a variable, so
 * the call itself can be saved and shared.
 */
function writeFirstCall({ key, models: allowed, endpoints }: NewApiKey, { baseUrl, models }: Surroundings): string {
  const mayChat = endpoints === null || endpoints.includes("chat");
  const model = models.find(({ id, type }) => type === "chat" && (allowed === null || allowed.includes(id)));
  const [curl] = mayChat && model !== undefined ? writeModelSamples(model, baseUrl) : [null];
  const call = curl?.code ?? `curl -sS ${baseUrl}/models \\\n  -H "Authorization: Bearer $SLUICE_API_KEY"`;
  return `export SLUICE_API_KEY=${key}\n\n${call}`;
}
