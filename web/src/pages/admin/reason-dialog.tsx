import { type ReactNode, useState } from "react";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { TextField } from "../../design/text-field.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";

type ReasonDialogProps = {
  title: string;
  submitName: string;
  look?: "primary" | "danger";
  /** The API's names of the fields in `children`. */
  fields?: readonly string[];
  /** `reference` is the same for every attempt of this dialog, so that money is booked once. */
  send(words: { reason: string; reference: string }): Promise<unknown>;
  /** What the toast says. */
  done: string;
  onDone(): void;
  onClose(): void;
  children?: ReactNode | ((errorAt: (field: string) => string | null) => ReactNode);
};

/** A change that an operator explains. The server may ask for a proof of identity first. */
export function ReasonDialog({
  title,
  submitName,
  look = "primary",
  fields = [],
  send,
  done,
  onDone,
  onClose,
  children,
}: ReasonDialogProps) {
  const [reason, setReason] = useState("");
  const [reference] = useState(() => `console:${crypto.randomUUID()}`);
  const repeat = useReauthentication();
  const showToast = useToast();
  const action = useAction(
    () => repeat(() => send({ reason, reference })),
    () => {
      showToast(done);
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(undefined);
        }}
      >
        <FormError message={action.errorBeside("reason", ...fields)} />
        {typeof children === "function" ? children(action.errorAt) : children}
        <TextField
          label="Reason"
          name="reason"
          maxLength={500}
          required
          hint="For the audit log. Customers don't see it."
          value={reason}
          onChange={setReason}
          error={action.errorAt("reason")}
        />
        <div className="flex flex-wrap justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button look={look} type="submit" isBusy={action.isBusy}>
            {submitName}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
