import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { Button } from "../../../design/button.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { Notice } from "../../../design/notice.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { adminApi } from "../admin-api.ts";
import { CheckLines } from "./check-lines.tsx";

type Tested = { ok: boolean; checks: { check: string; ok: boolean; message: string; remedy: string | null }[] };

/** Calls a provider with each of its keys. */
export function TestDialog({ provider, onClose }: { provider: string; onClose(): void }) {
  const [model, setModel] = useState("");
  const [tested, setTested] = useState<Tested | null>(null);
  const test = useAction(
    () =>
      ask(
        adminApi.POST("/upstreams/tests", {
          body: { provider, ...(model.trim() === "" ? {} : { model: model.trim() }) },
        }),
      ),
    setTested,
  );
  return (
    <Dialog title={`Test ${provider}`} onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          test.run(undefined);
        }}
      >
        <FormError message={test.errorBeside("model")} />
        <TextField
          label="Model (optional)"
          name="model"
          hint="Also calls this model, for a fraction of a cent. Charges no account."
          value={model}
          onChange={setModel}
          error={test.errorAt("model")}
        />
        <div aria-live="polite" className="flex flex-col gap-3">
          {tested !== null && (
            <>
              <Notice
                kind={tested.ok ? "success" : "error"}
                title={tested.ok ? `${provider} works.` : `${provider} does not work.`}
              />
              <CheckLines checks={tested.checks} />
            </>
          )}
        </div>
        <div className="flex flex-wrap justify-end gap-3">
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" type="submit" isBusy={test.isBusy}>
            Test
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
