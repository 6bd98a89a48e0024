import type { ReactNode } from "react";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { FormError } from "./form-error.tsx";
import type { Action } from "./use-action.ts";

type ConfirmationProps = {
  title: string;
  /** The consequence of confirming. */
  children: ReactNode;
  confirmName: string;
  look: "primary" | "danger";
  action: Action<undefined>;
  onClose(): void;
};

/** A confirmation before an action that is hard to undo. */
export function Confirmation({ title, children, confirmName, look, action, onClose }: ConfirmationProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="text-sm text-ink-soft">{children}</p>
      <FormError message={action.errorBeside()} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button look={look} isBusy={action.isBusy} onClick={() => action.run(undefined)}>
          {confirmName}
        </Button>
      </div>
    </Dialog>
  );
}
