import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { PageSection } from "../../design/page-section.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

type AccountSecret = { secret: string; previous_secret_expires_at?: string };

/** Signs events sent to a `callback_url`. Can be shown again after reauthentication. */
export function AccountSecretSection() {
  const repeat = useReauthentication();
  const [shown, setShown] = useState<AccountSecret | null>(null);
  const [isRotating, setRotating] = useState(false);
  const show = useAction(() => repeat(() => ask(api.GET("/webhook_secret"))), setShown);
  const rotate = useAction(
    () => repeat(() => ask(api.POST("/webhook_secret/rotate", { body: {} }))),
    (made) => {
      setRotating(false);
      setShown(made);
    },
  );
  return (
    <PageSection
      title="Secret for callback URLs"
      intro={
        <InlineCodeText text="A request can set its own `callback_url`. Its events are signed with this account secret. Endpoints have their own secrets." />
      }
    >
      <FormError message={show.errorBeside()} />
      <div className="flex flex-wrap gap-3">
        <Button isBusy={show.isBusy} onClick={() => show.run(undefined)}>
          Show secret
        </Button>
        <Button onClick={() => setRotating(true)}>Rotate secret</Button>
      </div>
      {isRotating && (
        <Dialog title="Rotate the account’s secret" onClose={() => setRotating(false)}>
          <p className="text-sm text-ink-soft">
            Events are signed with a new secret from now on. The old one stays valid for 24 hours, so your receivers can
            switch.
          </p>
          <FormError message={rotate.errorBeside()} />
          <div className="flex flex-wrap justify-end gap-3">
            <Button onClick={() => setRotating(false)}>Cancel</Button>
            <Button look="primary" isBusy={rotate.isBusy} onClick={() => rotate.run(undefined)}>
              Rotate
            </Button>
          </div>
        </Dialog>
      )}
      {shown !== null && (
        <SecretDialog
          title="Account webhook secret"
          secret={shown.secret}
          isShownOnce={false}
          previousUntil={shown.previous_secret_expires_at}
          onClose={() => setShown(null)}
        />
      )}
    </PageSection>
  );
}
