import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { api, ask } from "../api/console-api.ts";
import { queryTable } from "../api/query-table.ts";
import { useTableQuery } from "../api/use-table-query.ts";
import { Button, buttonClasses } from "../design/button.tsx";
import { PasswordField } from "../design/password-field.tsx";
import { TextField } from "../design/text-field.tsx";
import { FormError } from "../parts/forms/form-error.tsx";
import { useAction } from "../parts/forms/use-action.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { FocusPage, linkClasses } from "../parts/frame/focus-page.tsx";
import { parseNextPath } from "../parts/session/next-path.ts";
import { canUsePasskeys, proveByPasskey } from "../parts/session/passkey.ts";
import { storeNextPath, takeStoredNextPath } from "../parts/session/stored-next-path.ts";
import { CheckMail } from "./check-mail.tsx";

const route = getRouteApi("/sign-in");

/** Loaded on demand, so the form shows sooner. */
const SecondFactor = lazy(async () => ({ default: (await import("./second-factor.tsx")).SecondFactor }));

type SignInOutcome = Awaited<ReturnType<typeof signIn>>;

const signIn = (body: { email: string; password: string }) => ask(api.POST("/sign-in", { body }));

export function SignInPage() {
  const { next } = route.useSearch();
  const [outcome, setOutcome] = useState<SignInOutcome | null>(null);
  const [email, setEmail] = useDraft("email");
  const target = parseNextPath(next, location.origin);
  const session = useTableQuery(queryTable.session.current());
  const isSignedIn = next !== undefined && session.data != null;
  // Another tab signed in, or an operator's view of an account ended.
  useEffect(() => {
    if (isSignedIn) location.replace(target);
  }, [isSignedIn, target]);
  // Remembered across an e-mail link, for users who sign up or reset their password first.
  useEffect(() => {
    if (next !== undefined) storeNextPath(target);
  }, [next, target]);
  const proceed = (reached: SignInOutcome) => {
    if (reached.kind !== "signed-in") return setOutcome(reached);
    const remembered = takeStoredNextPath();
    // Full navigation: the next page may have another content security policy.
    location.assign(next === undefined ? parseNextPath(remembered, location.origin) : target);
  };

  if (outcome?.kind === "second-factor") {
    return (
      <Suspense>
        <SecondFactor methods={outcome.methods} onDone={proceed} onBack={() => setOutcome(null)} />
      </Suspense>
    );
  }
  if (outcome?.kind === "verify-email") return <CheckMail email={email} reason="verify" />;
  return <SignInForm target={target} email={email} onEmail={setEmail} onReached={proceed} />;
}

type SignInFormProps = {
  target: string;
  email: string;
  onEmail(email: string): void;
  onReached(outcome: SignInOutcome): void;
};

function SignInForm({ target, email, onEmail, onReached }: SignInFormProps) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const [password, setPassword] = useState("");
  const byPassword = useAction(signIn, onReached);
  const byPasskey = useAction(async () => {
    const options = await ask(api.POST("/sign-in/passkey/options", { body: {} }));
    return await ask(api.POST("/sign-in/passkey", { body: { response: await proveByPasskey(options) } }));
  }, onReached);

  return (
    <FocusPage
      title="Sign in"
      keptHeight="h-77.75"
      below={
        site !== undefined &&
        site.sign_up === "open" && (
          <>
            New here?{" "}
            <Link to="/sign-up" className={linkClasses}>
              Create an account
            </Link>
          </>
        )
      }
    >
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          byPasskey.reset();
          byPassword.run({ email, password });
        }}
      >
        <FormError message={byPassword.errorBeside("email", "password") ?? byPasskey.errorBeside()} />
        <TextField
          label="E-mail address"
          name="email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={onEmail}
          error={byPassword.errorAt("email")}
        />
        <PasswordField
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={setPassword}
          error={byPassword.errorAt("password")}
          aside={
            <Link to="/reset-password" className={`text-sm ${linkClasses}`}>
              Forgot password?
            </Link>
          }
        />
        <Button look="primary" type="submit" isBusy={byPassword.isBusy}>
          Sign in
        </Button>
      </form>
      <div className="flex flex-col gap-3 border-t border-line pt-6">
        {canUsePasskeys() && (
          <Button
            isBusy={byPasskey.isBusy}
            onClick={() => {
              byPassword.reset();
              byPasskey.run(undefined);
            }}
          >
            Use a passkey
          </Button>
        )}
        {site?.providers.map((provider) => (
          <a
            key={provider.id}
            href={`/console/api/sign-in/provider/${encodeURIComponent(provider.id)}?next=${encodeURIComponent(target)}`}
            className={buttonClasses("plain")}
          >
            Continue with {provider.name}
          </a>
        ))}
      </div>
    </FocusPage>
  );
}
