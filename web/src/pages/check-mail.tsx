import { Link } from "@tanstack/react-router";
import { api, ask } from "../api/console-api.ts";
import { queryTable } from "../api/query-table.ts";
import { useTableQuery } from "../api/use-table-query.ts";
import { Button } from "../design/button.tsx";
import { Notice } from "../design/notice.tsx";
import { useToast } from "../design/toast.tsx";
import { FormError } from "../parts/forms/form-error.tsx";
import { useAction } from "../parts/forms/use-action.ts";
import { FocusPage, linkClasses } from "../parts/frame/focus-page.tsx";

const requests = {
  verify: (email: string) => ask(api.POST("/email/resend", { body: { email } })),
  reset: (email: string) => ask(api.POST("/password/forgot", { body: { email } })),
};

/** The text must not reveal whether the address has an account. */
export function CheckMail({ email, reason }: { email: string; reason: keyof typeof requests }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const showToast = useToast();
  const resend = useAction(
    () => requests[reason](email),
    () => showToast("If the address is valid, the e-mail is on its way."),
  );
  const purpose = reason === "verify" ? "confirm your address" : "choose a new password";
  return (
    <FocusPage
      title="Check your e-mail"
      intro={
        <>
          If <strong className="text-ink">{email}</strong> can be used here, we have sent an e-mail to it. Its link lets
          you {purpose}.
        </>
      }
      below={
        <Link to="/sign-in" className={linkClasses}>
          Back to sign-in
        </Link>
      }
    >
      {site?.has_outbox === true && (
        <Notice kind="hint" title="E-mail is not configured">
          <p>
            This gateway has no mail server yet. Read its e-mails in the terminal or in the{" "}
            <Link to="/outbox" className={linkClasses}>
              outbox
            </Link>
            , whose link the terminal shows.
          </p>
        </Notice>
      )}
      <FormError message={resend.errorBeside()} />
      <Button isBusy={resend.isBusy} onClick={() => resend.run(undefined)}>
        Send again
      </Button>
    </FocusPage>
  );
}
