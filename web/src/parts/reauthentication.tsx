import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from "react";
import type { Session } from "../api/ask-session.ts";
import { ApiError, api, ask } from "../api/console-api.ts";
import { queryTable } from "../api/query-table.ts";
import { useTableQuery } from "../api/use-table-query.ts";
import { Button } from "../design/button.tsx";
import { CodeField } from "../design/code-field.tsx";
import { Dialog } from "../design/dialog.tsx";
import { PasswordField } from "../design/password-field.tsx";
import { type Tab, Tabs } from "../design/tabs.tsx";
import { FormError } from "./form-error.tsx";
import { canUsePasskeys, proveByPasskey } from "./passkey.ts";
import { useAction } from "./use-action.ts";

type Repeat = <Output>(perform: () => Promise<Output>) => Promise<Output>;

const ReauthenticationContext = createContext<Repeat>((perform) => perform());

/**
 * Runs something that needs a person who has just proven who they are. When the server asks for the proof, a dialog
 * does, and then the thing is done again.
 */
export function useReauthentication(): Repeat {
  return useContext(ReauthenticationContext);
}

type Pending = { resolve(): void; reject(error: Error): void };

export function ReauthenticationProvider({ children }: { children: ReactNode }) {
  const [isAsking, setAsking] = useState(false);
  const pending = useRef<Pending | null>(null);

  const repeat = useCallback<Repeat>(async (perform) => {
    try {
      return await perform();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "reauthentication_required") throw error;
      await new Promise<void>((resolve, reject) => {
        pending.current = { resolve, reject };
        setAsking(true);
      });
      return await perform();
    }
  }, []);

  const finish = (outcome: "proven" | "given-up") => {
    setAsking(false);
    if (outcome === "proven") pending.current?.resolve();
    else pending.current?.reject(new Error("Nothing was changed: you did not confirm your identity."));
    pending.current = null;
  };

  return (
    <ReauthenticationContext value={repeat}>
      {children}
      {isAsking && <ReauthenticationDialog onProven={() => finish("proven")} onGivenUp={() => finish("given-up")} />}
    </ReauthenticationContext>
  );
}

type Way = "secrets" | "passkey";
type FormProps = { onProven(): void; onGivenUp(): void };

function ReauthenticationDialog({ onProven, onGivenUp }: FormProps) {
  const { data: session } = useTableQuery(queryTable.session.current());
  if (session === undefined || session === null) return null;
  const proof = session.user.has_password ? "password" : "identity";
  return (
    <Dialog title={`Confirm your ${proof} to continue`} onClose={onGivenUp}>
      <ReauthenticationForm user={session.user} onProven={onProven} onGivenUp={onGivenUp} />
    </Dialog>
  );
}

function ReauthenticationForm({ user, onProven, onGivenUp }: FormProps & { user: Session["user"] }) {
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
    return <p className="text-sm">Sign out and sign in again with your service, then do this within ten minutes.</p>;
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
        <Tabs label="Ways to confirm" tabs={tabs} chosen={way} onChoose={(id) => setChosen(id)}>
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
