import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask } from "../api/console-api.ts";
import { Button, buttonClasses } from "../design/button.tsx";
import { PasswordField } from "../design/password-field.tsx";
import { TextField } from "../design/text-field.tsx";
import { FormError } from "../parts/forms/form-error.tsx";
import { useAction } from "../parts/forms/use-action.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { FocusPage, linkClasses } from "../parts/frame/focus-page.tsx";
import { CheckMail } from "./check-mail.tsx";

const route = getRouteApi("/reset-password");

const backToSignIn = (
  <Link to="/sign-in" className={linkClasses}>
    Back to sign-in
  </Link>
);

export function ResetPasswordPage() {
  const { token } = route.useSearch();
  return token === undefined ? <AskForLink /> : <ChoosePassword token={token} />;
}

function AskForLink() {
  const [email, setEmail] = useDraft("email");
  const [isSent, setSent] = useState(false);
  const action = useAction(
    () => ask(api.POST("/password/forgot", { body: { email } })),
    () => setSent(true),
  );
  if (isSent) return <CheckMail email={email} reason="reset" />;
  return (
    <FocusPage title="Reset your password" intro="We send a link to this address." below={backToSignIn}>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(undefined);
        }}
      >
        <FormError message={action.errorBeside("email")} />
        <TextField
          label="E-mail address"
          name="email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={setEmail}
          error={action.errorAt("email")}
        />
        <Button look="primary" type="submit" isBusy={action.isBusy}>
          Send link
        </Button>
      </form>
    </FocusPage>
  );
}

function ChoosePassword({ token }: { token: string }) {
  const [password, setPassword] = useState("");
  const [isDone, setDone] = useState(false);
  const action = useAction(
    () => ask(api.POST("/password/reset", { body: { token, password } })),
    () => setDone(true),
  );
  if (isDone) {
    return (
      <FocusPage title="Password changed" intro="You are signed out on all devices.">
        <Link to="/sign-in" className={buttonClasses("primary")}>
          Sign in
        </Link>
      </FocusPage>
    );
  }
  return (
    <FocusPage title="Choose a new password" below={backToSignIn}>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(undefined);
        }}
      >
        <FormError message={action.errorBeside("password")} />
        <PasswordField
          label="New password"
          name="password"
          autoComplete="new-password"
          required
          minLength={8}
          hasAdvice
          value={password}
          onChange={setPassword}
          error={action.errorAt("password")}
        />
        <Button look="primary" type="submit" isBusy={action.isBusy}>
          Change password
        </Button>
      </form>
    </FocusPage>
  );
}
