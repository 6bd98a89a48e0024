import { useState } from "react";
import type { ApiKey, NewApiKey } from "../../api/ask-keys.ts";
import { api, ask } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";

const overlaps = [
  { value: "0", label: "Immediately" },
  { value: "10", label: "In 10 minutes" },
  { value: "60", label: "In an hour" },
  { value: "1440", label: "In 24 hours" },
] as const;

type RotateKeyProps = { apiKey: ApiKey; onMade(made: NewApiKey): void; onGivenUp(): void };

export function RotateKey({ apiKey: { id }, onMade, onGivenUp }: RotateKeyProps) {
  const [overlap, setOverlap] = useState("0");
  const repeat = useReauthentication();
  const rotate = useAction(
    () =>
      repeat(() =>
        ask(api.POST("/keys/{id}/rotate", { params: { path: { id } }, body: { overlap_minutes: Number(overlap) } })),
      ),
    onMade,
  );
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        rotate.run(undefined);
      }}
    >
      <p className="text-sm text-ink-soft">
        Creates a new key with the same name and limits; its budget starts over. Keep the old key valid for a while if
        its programs cannot switch at once. If it has leaked, expire it immediately.
      </p>
      <FormError message={rotate.errorBeside()} />
      <SelectField label="Old key expires" name="overlap" options={overlaps} value={overlap} onChange={setOverlap} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onGivenUp}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={rotate.isBusy}>
          Create new key
        </Button>
      </div>
    </form>
  );
}
