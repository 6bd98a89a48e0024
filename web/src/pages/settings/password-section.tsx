import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { Button } from "../../design/button.tsx";
import { Card } from "../../design/card.tsx";
import { PasswordField } from "../../design/password-field.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { useSession } from "../../parts/session/use-session.ts";

export function PasswordSection() {
  const { user } = useSession();
  if (user.has_password) return <ChangePassword />;
  return (
    <Card
      title="Password"
      intro={
        <>
          You have no password. To add one,{" "}
          <Link to="/reset-password" className={linkClasses}>
            request a link
          </Link>{" "}
          by e-mail.
        </>
      }
    />
  );
}

function ChangePassword() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const repeat = useReauthentication();
  const answers = useQueryCache();
  const showToast = useToast();
  const action = useAction(
    () => repeat(() => ask(api.POST("/password", { body: { current_password: current, new_password: next } }))),
    async () => {
      setCurrent("");
      setNext("");
      showToast("Password changed. Other sessions have ended.");
      await answers.refreshAll();
    },
  );
  return (
    <Card title="Password" intro="Changing it ends every other session.">
      <form
        className="flex max-w-md flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(undefined);
        }}
      >
        <FormError message={action.errorBeside("current_password", "new_password")} />
        <PasswordField
          label="Current password"
          name="current_password"
          autoComplete="current-password"
          required
          value={current}
          onChange={setCurrent}
          error={action.errorAt("current_password")}
        />
        <PasswordField
          label="New password"
          name="new_password"
          autoComplete="new-password"
          required
          minLength={8}
          hasAdvice
          value={next}
          onChange={setNext}
          error={action.errorAt("new_password")}
        />
        <div>
          <Button type="submit" isBusy={action.isBusy}>
            Change password
          </Button>
        </div>
      </form>
    </Card>
  );
}
