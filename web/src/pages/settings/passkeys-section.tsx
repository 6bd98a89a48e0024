import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Card } from "../../design/card.tsx";
import { DataList, DataListText } from "../../design/data-list.tsx";
import { TextField } from "../../design/text-field.tsx";
import { useToast } from "../../design/toast.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useDraft } from "../../parts/forms/use-draft.ts";
import { canUsePasskeys, makePasskey } from "../../parts/session/passkey.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";

export function PasskeysSection() {
  const answers = useQueryCache();
  const repeat = useReauthentication();
  const showToast = useToast();
  const passkeys = useTableQuery(queryTable.passkeys.list());
  const refresh = async (sentence: string) => {
    showToast(sentence);
    await answers.refresh("passkeys", "session");
  };
  const remove = useAction(
    (id: string) => repeat(() => ask(api.DELETE("/passkeys/{id}", { params: { path: { id } } }))),
    () => refresh("Passkey removed. Delete it on your device too."),
  );
  return (
    <Card title="Passkeys" intro="Sign in with your fingerprint, face or device PIN. Passkeys cannot be phished.">
      <div className="flex flex-col gap-5">
        <FormError message={remove.errorBeside()} />
        <DataList label="Passkeys" query={passkeys} empty="You have no passkey yet." keyOf={({ id }) => id}>
          {(passkey) => (
            <>
              <DataListText title={passkey.name} detail={`Added ${formatMoment(passkey.created_at)}`} />
              <Button look="danger" onClick={() => remove.run(passkey.id)} aria-label={`Remove ${passkey.name}`}>
                Remove
              </Button>
            </>
          )}
        </DataList>
        {canUsePasskeys() ? (
          <AddPasskey onAdded={() => refresh("Passkey added.")} />
        ) : (
          <p className="text-sm text-ink-soft">This browser does not support passkeys.</p>
        )}
      </div>
    </Card>
  );
}

function AddPasskey({ onAdded }: { onAdded(): void }) {
  const [name, setName] = useDraft("passkey-name");
  const repeat = useReauthentication();
  const add = useAction(
    async () => {
      const options = await repeat(() => ask(api.POST("/passkeys/options", { body: {} })));
      const response = await makePasskey(options);
      return await repeat(() => ask(api.POST("/passkeys", { body: { name: name.trim(), response } })));
    },
    () => {
      setName("");
      onAdded();
    },
  );
  return (
    <form
      className="flex max-w-md flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        add.run(undefined);
      }}
    >
      <FormError message={add.errorBeside("name")} />
      <TextField
        label="Name of a new passkey"
        name="passkey_name"
        required
        maxLength={64}
        placeholder="Laptop"
        value={name}
        onChange={setName}
        error={add.errorAt("name")}
      />
      <div>
        <Button type="submit" isBusy={add.isBusy}>
          Add passkey
        </Button>
      </div>
    </form>
  );
}
