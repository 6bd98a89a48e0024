import createQrCode from "qrcode-generator";
import { useMemo, useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { CodeField } from "../../design/code-field.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";

type ConfirmAuthenticatorProps = {
  secret: string;
  uri: string;
  onConfirmed(backupCodes: readonly string[]): void;
  onGivenUp(): void;
};

const totpDigits = 6;

/** Enabled only after a valid code, so the app is known to have the secret. */
export function ConfirmAuthenticator({ secret, uri, onConfirmed, onGivenUp }: ConfirmAuthenticatorProps) {
  const [code, setCode] = useState("");
  const repeat = useReauthentication();
  const qrCode = useMemo(() => drawQrCode(uri), [uri]);
  const confirm = useAction(
    (typed: string) => repeat(() => ask(api.POST("/totp/confirm", { body: { code: typed } }))),
    ({ backup_codes }) => onConfirmed(backup_codes),
  );
  return (
    <div className="flex flex-col gap-6 sm:flex-row">
      <svg
        viewBox={`0 0 ${qrCode.size} ${qrCode.size}`}
        role="img"
        aria-label="QR code for your authenticator app"
        className="size-48 shrink-0 rounded-md bg-white"
        shapeRendering="crispEdges"
      >
        <path d={qrCode.path} className="fill-black" />
      </svg>
      <form
        className="flex max-w-md flex-1 flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          confirm.run(code.replaceAll(" ", ""));
        }}
      >
        <FormError message={confirm.errorBeside("code")} />
        <div className="text-sm">
          <p className="text-ink-soft">Without a camera, type this into the app:</p>
          <div className="mt-2 flex flex-wrap items-center gap-3">
            <code className="rounded-md bg-sunken px-3 py-2 font-mono">{secret}</code>
            <CopyButton text={secret} />
          </div>
        </div>
        <CodeField
          label="Six-digit code"
          name="code"
          kind="digits"
          length={totpDigits}
          value={code}
          onChange={setCode}
          onComplete={confirm.run}
          error={confirm.errorAt("code")}
        />
        <div className="flex flex-wrap gap-3">
          <Button look="primary" type="submit" isBusy={confirm.isBusy}>
            Turn on
          </Button>
          <Button onClick={onGivenUp}>Cancel</Button>
        </div>
      </form>
    </div>
  );
}

const quietModules = 4;

/** A QR code as one SVG path, drawn locally because it contains a secret. */
function drawQrCode(text: string): { path: string; size: number } {
  const code = createQrCode(0, "M");
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  const squares: string[] = [];
  for (let row = 0; row < count; row += 1) {
    for (let column = 0; column < count; column += 1) {
      if (code.isDark(row, column)) squares.push(`M${column + quietModules} ${row + quietModules}h1v1h-1z`);
    }
  }
  return { path: squares.join(""), size: count + 2 * quietModules };
}
