import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { Session } from "../../api/fetch-session.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { CodeField } from "../../design/code-field.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { PasswordField } from "../../design/password-field.tsx";
import { type Tab, Tabs } from "../../design/tabs.tsx";
import { FormError } from "../forms/form-error.tsx";
import { useAction } from "../forms/use-action.ts";
import { canUsePasskeys, proveByPasskey } from "./passkey.ts";

type Way = "secrets" | "passkey";
type ReauthenticationDialogProps = { onProven(): void; onGivenUp(): void };

/** Password and code, or a passkey. */
export function ReauthenticationDialog({ onProven, onGivenUp }: ReauthenticationDialogProps) {
  const { data: session } = useTableQuery(queryTable.session.current());
  if (session === undefined || session === null) return null;
  const proof = session.user.has_password ? "password" : "identity";
  return (
    <Dialog title={`Confirm your ${proof} to continue`} onClose={onGivenUp}>
      <ReauthenticationForm user={session.user} onProven={onProven} onGivenUp={onGivenUp} />
    </Dialog>
  );
}

function ReauthenticationForm({ user, onProven, onGivenUp }: ReauthenticationDialogProps & { user: Session["user"] }) {
  const { has_password, has_totp, passkey_count } = user;
  const [chosen, setChosen] = useState<Way | null>(null);
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const action = useAction(async (way: Way) => {
    if (way === "secrets") {
      const body = {
        ...(has_password ? { password } : {}),
        ...(has_totp ? { code: code.replaceAll(" ", "") } : {}),
      };
      return await ask(api.POST("/reauthenticate", { body }));
    }
    const options = await ask(api.POST("/sign-in/passkey/options", { body: {} }));
    return await ask(api.POST("/reauthenticate", { body: { passkey: await proveByPasskey(options) } }));
  }, onProven);

  const secretsLabel = has_password ? (has_totp ? "Password and code" : "Password") : "Code";
  const tabs: Tab<Way>[] = [
    ...(has_password || has_totp ? [{ id: "secrets" as const, label: secretsLabel }] : []),
    ...(passkey_count > 0 && canUsePasskeys() ? [{ id: "passkey" as const, label: "Passkey" }] : []),
  ];
  const way = chosen ?? tabs[0]?.id;
  if (way === undefined) {
    return <p className="text-sm">Sign out, sign in again with your service, then retry within 10 minutes.</p>;
  }
  const fields = {
    secrets: (
      <div className="flex flex-col gap-4">
        {has_password && (
          <PasswordField
            label="Password"
            name="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={setPassword}
            error={action.errorAt("password")}
          />
        )}
        {has_totp && (
          <CodeField
            label="Code from your authenticator app"
            name="code"
            kind="digits"
            value={code}
            onChange={setCode}
            error={action.errorAt("code")}
          />
        )}
      </div>
    ),
    passkey: <p className="text-sm text-ink-soft">Your browser will ask for your passkey.</p>,
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        action.run(way);
      }}
    >
      <FormError message={action.errorBeside("password", "code")} />
      {tabs.length > 1 ? (
        <Tabs label="Confirmation methods" tabs={tabs} chosen={way} onChoose={(id) => setChosen(id)}>
          {fields[way]}
        </Tabs>
      ) : (
        fields[way]
      )}
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onGivenUp}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={action.isBusy}>
          Confirm
        </Button>
      </div>
    </form>
  );
}
