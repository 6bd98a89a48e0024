import type { ReactNode } from "react";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";

type ConfirmDialogProps<Output> = {
  title: string;
  submitName: string;
  look?: "primary" | "danger";
  size?: "narrow" | "wide";
  /** The API's names of the fields in `children`. */
  fields?: readonly string[];
  send(): Promise<Output>;
  /** What the toast says, if anything. */
  done?: string;
  onDone(output: Output): void;
  onClose(): void;
  children?: ReactNode | ((errorAt: (field: string) => string | null) => ReactNode);
};

/** A change without a reason. The server may ask for a proof of identity first. */
export function ConfirmDialog<Output>(props: ConfirmDialogProps<Output>) {
  const { title, submitName, look = "primary", size = "narrow", fields = [], send, done, onClose, children } = props;
  const repeat = useReauthentication();
  const showToast = useToast();
  const action = useAction(
    () => repeat(send),
    (output) => {
      if (done !== undefined) showToast(done);
      props.onDone(output);
      onClose();
    },
  );
  return (
    <Dialog title={title} size={size} onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(undefined);
        }}
      >
        <FormError message={action.errorBeside(...fields)} />
        {typeof children === "function" ? children(action.errorAt) : children}
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
