import type { QueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask } from "../api/console-api.ts";
import { queryTable } from "../api/query-table.ts";
import { useSuspenseTableQuery } from "../api/use-table-query.ts";
import { Button } from "../design/button.tsx";
import { PasswordField } from "../design/password-field.tsx";
import { TextField } from "../design/text-field.tsx";
import { FormError } from "../parts/forms/form-error.tsx";
import { useAction } from "../parts/forms/use-action.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { FocusPage, linkClasses } from "../parts/frame/focus-page.tsx";
import { useBrand } from "../parts/frame/use-brand.ts";
import { SupportContact } from "../parts/records/support-contact.tsx";
import { CheckMail } from "./check-mail.tsx";

const route = getRouteApi("/sign-up");

const signInInstead = (
  <>
    Have an account?{" "}
    <Link to="/sign-in" className={linkClasses}>
      Sign in
    </Link>
  </>
);

/** The sign-up policy decides what the page shows. */
export const prefetch = (queries: QueryClient) => queries.ensureQueryData(queryTable.site.settings());

export function SignUpPage() {
  const { data: site } = useSuspenseTableQuery(queryTable.site.settings());
  const { invite } = route.useSearch();
  if (site.sign_up === "closed") {
    return (
      <FocusPage
        title="Sign-up is closed"
        intro={
          <>
            Accounts are created by the operator. Ask <SupportContact contact={site.support_contact} /> for one.
          </>
        }
        below={signInInstead}
      />
    );
  }
  if (site.sign_up === "invite" && invite === undefined) {
    return (
      <FocusPage
        title="Sign-up by invitation"
        intro={
          <>
            You need an invitation to create an account: open the link in your invitation e-mail, or ask{" "}
            <SupportContact contact={site.support_contact} /> for one.
          </>
        }
        below={signInInstead}
      />
    );
  }
  return <SignUpForm invite={invite} />;
}

function SignUpForm({ invite }: { invite: string | undefined }) {
  const [email, setEmail] = useDraft("email");
  const [password, setPassword] = useState("");
  const [isSent, setSent] = useState(false);
  const action = useAction(
    () => ask(api.POST("/sign-up", { body: { email, password, ...(invite === undefined ? {} : { invite }) } })),
    () => setSent(true),
  );
  if (isSent) return <CheckMail email={email} reason="verify" />;
  return (
    <FocusPage
      title="Create an account"
      keptHeight="h-67.5"
      intro={invite === undefined ? undefined : "You have been invited."}
      below={signInInstead}
    >
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(undefined);
        }}
      >
        <FormError message={action.errorBeside("email", "password")} />
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
        <PasswordField
          label="Password"
          name="password"
          autoComplete="new-password"
          required
          minLength={8}
          hasAdvice
          value={password}
          onChange={setPassword}
          error={action.errorAt("password")}
        />
        <Agreement />
        <Button look="primary" type="submit" isBusy={action.isBusy}>
          Create account
        </Button>
      </form>
    </FocusPage>
  );
}

/** Shown if the operator has terms. */
function Agreement() {
  const { terms, privacy } = useBrand().links;
  if (terms === null) return null;
  return (
    <p className="text-sm text-ink-soft">
      By creating an account you agree to the{" "}
      <a href={terms} target="_blank" rel="noreferrer" className={linkClasses}>
        terms of service
      </a>
      {privacy !== null && (
        <>
          {" "}
          and the{" "}
          <a href={privacy} target="_blank" rel="noreferrer" className={linkClasses}>
            privacy policy
          </a>
        </>
      )}
      .
    </p>
  );
}
