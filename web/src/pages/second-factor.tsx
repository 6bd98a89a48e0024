import { useState } from "react";
import { api, ask } from "../api/console-api.ts";
import { Button } from "../design/button.tsx";
import { CodeField } from "../design/code-field.tsx";
import { type Tab, Tabs } from "../design/tabs.tsx";
import { FormError } from "../parts/forms/form-error.tsx";
import { useAction } from "../parts/forms/use-action.ts";
import { FocusPage } from "../parts/frame/focus-page.tsx";

type Method = "totp" | "backup-code";
type SecondFactorProps = {
  methods: readonly Method[];
  onDone(outcome: Awaited<ReturnType<typeof sendCode>>): void;
  onBack(): void;
};

const totpDigits = 6;
const names: Record<Method, string> = { totp: "Authenticator", "backup-code": "Backup code" };

const sendCode = ({ method, code }: { method: Method; code: string }) =>
  method === "totp"
    ? ask(api.POST("/sign-in/totp", { body: { code } }))
    : ask(api.POST("/sign-in/backup-code", { body: { code } }));

export function SecondFactor({ methods, onDone, onBack }: SecondFactorProps) {
  const [method, setMethod] = useState<Method>(methods[0] ?? "totp");
  const [code, setCode] = useState("");
  const action = useAction(sendCode, onDone);
  const send = (typed: string) => action.run({ method, code: typed });
  const tabs: Tab<Method>[] = methods.map((id) => ({ id, label: names[id] }));
  const choose = (chosen: Method) => {
    setMethod(chosen);
    setCode("");
    action.reset();
  };
  const field =
    method === "totp" ? (
      <CodeField
        label="Six-digit code"
        name="code"
        kind="digits"
        length={totpDigits}
        value={code}
        onChange={setCode}
        onComplete={send}
        error={action.errorAt("code")}
        hint="Your authenticator app shows a new one every 30 seconds."
      />
    ) : (
      <CodeField
        label="Backup code"
        name="code"
        kind="letters"
        value={code}
        onChange={setCode}
        error={action.errorAt("code")}
        hint="Use one of the codes you saved during setup. Each works once."
      />
    );
  return (
    <FocusPage title="Two-factor authentication">
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          send(code.replaceAll(" ", ""));
        }}
      >
        <FormError message={action.errorBeside("code")} />
        {tabs.length > 1 ? (
          <Tabs label="Verification method" tabs={tabs} chosen={method} onChoose={choose}>
            {field}
          </Tabs>
        ) : (
          field
        )}
        <Button look="primary" type="submit" isBusy={action.isBusy}>
          Sign in
        </Button>
        <Button look="quiet" onClick={onBack}>
          Back
        </Button>
      </form>
    </FocusPage>
  );
}
