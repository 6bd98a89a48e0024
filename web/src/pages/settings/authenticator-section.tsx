import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { Card } from "../../design/card.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { useSession } from "../../parts/session/use-session.ts";

const ConfirmAuthenticator = lazyPart(
  async () => (await import("./confirm-authenticator.tsx")).ConfirmAuthenticator,
  <Skeleton className="h-64" />,
);

/** TOTP codes from an authenticator app, with backup codes. */
export function AuthenticatorSection() {
  const { user } = useSession();
  const answers = useQueryCache();
  const repeat = useReauthentication();
  const showToast = useToast();
  const [secret, setSecret] = useState<{ secret: string; uri: string } | null>(null);
  const [backupCodes, setBackupCodes] = useState<readonly string[] | null>(null);
  const refresh = () => answers.refresh("session");

  const begin = useAction(() => repeat(() => ask(api.POST("/totp", { body: {} }))), setSecret);
  const renew = useAction(
    () => repeat(() => ask(api.POST("/totp/backup-codes", { body: {} }))),
    ({ backup_codes }) => setBackupCodes(backup_codes),
  );
  const end = useAction(
    () => repeat(() => ask(api.DELETE("/totp"))),
    () => {
      showToast("Authenticator app turned off.");
      return refresh();
    },
  );

  if (backupCodes !== null) {
    return (
      <Card
        title="Your backup codes"
        intro="Each code signs you in once without your authenticator app. Save them now: they are shown only once."
      >
        <BackupCodes codes={backupCodes} onDone={() => setBackupCodes(null)} />
      </Card>
    );
  }
  if (secret !== null) {
    return (
      <Card
        title="Set up an authenticator app"
        intro="Scan the QR code with the app, then enter the code that it shows."
      >
        <ConfirmAuthenticator
          {...secret}
          onConfirmed={(codes) => {
            setSecret(null);
            setBackupCodes(codes);
            void refresh();
          }}
          onGivenUp={() => setSecret(null)}
        />
      </Card>
    );
  }
  return (
    <Card
      title="Authenticator app"
      intro={
        user.has_totp
          ? "On: sign-in requires a code from your app after your password."
          : "Off. Turn it on to require a code from an app after your password."
      }
    >
      <div className="flex flex-col gap-4">
        <FormError message={begin.errorBeside() ?? renew.errorBeside() ?? end.errorBeside()} />
        <div className="flex flex-wrap gap-3">
          {user.has_totp ? (
            <>
              <Button isBusy={renew.isBusy} onClick={() => renew.run(undefined)}>
                New backup codes
              </Button>
              <Button look="danger" isBusy={end.isBusy} onClick={() => end.run(undefined)}>
                Turn off
              </Button>
            </>
          ) : (
            <Button isBusy={begin.isBusy} onClick={() => begin.run(undefined)}>
              Set up
            </Button>
          )}
        </div>
      </div>
    </Card>
  );
}

/** Shown once; new codes can be created later. */
function BackupCodes({ codes, onDone }: { codes: readonly string[]; onDone(): void }) {
  const text = `${codes.join("\n")}\n`;
  return (
    <div className="flex flex-col gap-5">
      <ul aria-label="Backup codes" className="grid max-w-md grid-cols-2 gap-2">
        {codes.map((code) => (
          <li key={code} className="rounded-md bg-sunken px-3 py-2 text-center font-mono text-sm">
            {code}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-3">
        <CopyButton text={text} label="Copy all" />
        <a
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          download="sluice-backup-codes.txt"
          className={buttonClasses("plain")}
        >
          Download
        </a>
        <Button look="primary" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
