import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { api, ask } from "../api/console-api.ts";
import { Button } from "../design/button.tsx";
import { PasswordField } from "../design/password-field.tsx";
import { FormError } from "../parts/forms/form-error.tsx";
import { useAction } from "../parts/forms/use-action.ts";
import { FocusPage, linkClasses } from "../parts/frame/focus-page.tsx";
import { parseNextPath } from "../parts/session/next-path.ts";
import { takeStoredNextPath } from "../parts/session/stored-next-path.ts";

const route = getRouteApi("/verify-email");

const toSignIn = (
  <Link to="/sign-in" className={linkClasses}>
    Go to sign-in
  </Link>
);

type Proof = { token: string; password?: string };

const verify = (body: Proof) => ask(api.POST("/email/verify", { body }));

/**
 * In the browser that signed up, opening the link is enough. Mail scanners open links too, but in other browsers, where
 * the server requires the password.
 */
export function VerifyEmailPage() {
  const { token } = route.useSearch();
  const action = useAction(verify, () => location.replace(parseNextPath(takeStoredNextPath(), location.origin)));
  // In another browser the server requires the password.
  const [password, setPassword] = useState<string | null>(null);
  if (password === null && action.errorAt("password") !== null) setPassword("");
  const isTried = useRef(false);
  useEffect(() => {
    if (token === undefined || isTried.current) return;
    isTried.current = true;
    action.run({ token });
  }, [token, action.run]);
  if (token === undefined) {
    return (
      <FocusPage
        title="This link is incomplete"
        intro="Open the link in the e-mail again, or copy all of it into the address bar."
        below={toSignIn}
      />
    );
  }
  return (
    <FocusPage title="Confirm your address" below={toSignIn}>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          action.run({ token, ...(password === null ? {} : { password }) });
        }}
      >
        <FormError message={action.errorBeside("password")} />
        {password !== null && (
          <PasswordField
            label="Password that you chose"
            name="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={setPassword}
            error={action.errorAt("password")}
          />
        )}
        <Button look="primary" type="submit" isBusy={action.isBusy}>
          Confirm and sign in
        </Button>
      </form>
    </FocusPage>
  );
}
