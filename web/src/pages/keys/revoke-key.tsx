import { useState } from "react";
import type { ApiKey } from "../../api/ask-keys.ts";
import { api, ask } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { TextField } from "../../design/text-field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";

type RevokeKeyProps = { apiKey: ApiKey; onRevoked(): void; onGivenUp(): void };

/** Irreversible, so the user types the key's name. */
export function RevokeKey({ apiKey: { id, name, kind }, onRevoked, onGivenUp }: RevokeKeyProps) {
  const [typed, setTyped] = useState("");
  const [hasMissed, setMissed] = useState(false);
  const revoke = useAction(() => ask(api.DELETE("/keys/{id}", { params: { path: { id } } })), onRevoked);
  const isRight = typed.trim() === name;
  return (
    <form
      noValidate
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        setMissed(!isRight);
        if (isRight) revoke.run(undefined);
      }}
    >
      <p className="text-sm text-ink-soft">
        {kind === "client"
          ? "The program is disconnected and its calls are refused. Connect it again to issue another key."
          : "Calls with this key are refused. This cannot be undone."}{" "}
        Its past charges stay in your statement.
      </p>
      <FormError message={revoke.errorBeside()} />
      <TextField
        label={`Type ${name} to confirm`}
        name="confirmation"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={setTyped}
        error={hasMissed && !isRight ? `Type the key’s name exactly: ${name}` : null}
      />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onGivenUp}>Cancel</Button>
        <Button look="danger" type="submit" isBusy={revoke.isBusy}>
          Revoke key
        </Button>
      </div>
    </form>
  );
}
