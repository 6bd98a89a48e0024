import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { Button } from "../../../design/button.tsx";
import { CheckList } from "../../../design/check-list.tsx";
import { CodeBlock } from "../../../design/code-block.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { Notice } from "../../../design/notice.tsx";
import { SecretText } from "../../../design/secret-text.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { useReauthentication } from "../../../parts/session/reauthentication.tsx";
import { adminApi } from "../admin-api.ts";
import { useAdminRefresh } from "../admin-query-table.ts";
import type { AdminKey } from "../fetch-admin.ts";
import { scopeNames } from "./scope-names.ts";

const accesses = [
  { value: "read", label: "Read" },
  { value: "write", label: "Read and change" },
] as const;

const lifetimes = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "", label: "Until it is revoked" },
] as const;
const dayMs = 24 * 60 * 60_000;

/** The form for a new key, then the key. */
export function CreateKeyDialog({ onClose }: { onClose(): void }) {
  const [made, setMade] = useState<{ name: string; key: string } | null>(null);
  return made === null ? (
    <KeyForm onMade={setMade} onClose={onClose} />
  ) : (
    <ShownKey name={made.name} text={made.key} onDone={onClose} />
  );
}

type KeyFormProps = { onMade(made: { name: string; key: string }): void; onClose(): void };

function KeyForm({ onMade, onClose }: KeyFormProps) {
  const [name, setName] = useState("");
  const [access, setAccess] = useState<AdminKey["access"]>("read");
  const [days, setDays] = useState("90");
  const [isLimited, setLimited] = useState(false);
  const [scopes, setScopes] = useState<AdminKey["scopes"]>([]);
  const refresh = useAdminRefresh();
  const repeat = useReauthentication();
  const create = useAction(
    () => {
      const body = {
        ...{ name, access },
        ...(isLimited ? { scopes } : {}),
        ...(days === "" ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
      };
      return repeat(() => ask(adminApi.POST("/keys", { body })));
    },
    (made) => {
      void refresh("adminKeys");
      onMade(made);
    },
  );
  return (
    <Dialog title="Create admin key" size="wide" onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          create.run(undefined);
        }}
      >
        <FormError message={create.errorBeside("name", "access", "scopes", "expires_at")} />
        <TextField
          label="Name"
          name="name"
          maxLength={100}
          required
          hint="The program that uses it, such as “Billing export”."
          value={name}
          onChange={setName}
          error={create.errorAt("name")}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label="Access"
            options={accesses}
            value={access}
            onChange={(value) => setAccess(value === "write" ? "write" : "read")}
            error={create.errorAt("access")}
          />
          <SelectField
            label="Valid for"
            options={lifetimes}
            value={days}
            onChange={setDays}
            error={create.errorAt("expires_at")}
          />
        </div>
        <CheckList
          legend="Scopes"
          allLabel="All scopes"
          isLimited={isLimited}
          onLimit={setLimited}
          options={Object.entries(scopeNames).map(([value, label]) => ({ value, label }))}
          chosen={scopes}
          onChoose={(chosen) => setScopes(listKnown(chosen))}
          error={create.errorAt("scopes")}
        />
        <div className="flex flex-wrap justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isBusy={create.isBusy}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function listKnown(chosen: readonly string[]): AdminKey["scopes"] {
  return chosen.filter((name): name is keyof typeof scopeNames => name in scopeNames);
}

type ShownKeyProps = { name: string; text: string; onDone(): void };

/** The only time the key is shown. It exists only in this page's memory. */
function ShownKey({ name, text, onDone }: ShownKeyProps) {
  const [isWarned, setWarned] = useState(false);
  return (
    <Dialog
      title={`Save your key “${name}”`}
      size="wide"
      // An accidental Escape must not lose the key.
      onClose={() => (isWarned ? onDone() : setWarned(true))}
    >
      <Notice kind="warning">
        The key is shown only once. Store it in a secret manager. Revoke it here if it may have leaked.
      </Notice>
      <SecretText label="Your new admin key" text={text} />
      <CodeBlock
        label="First call"
        code={`export SLUICE_ADMIN_KEY=${text}\n\ncurl -sS ${location.origin}/admin/v1/identity \\\n  -H "Authorization: Bearer $SLUICE_ADMIN_KEY"`}
      />
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
