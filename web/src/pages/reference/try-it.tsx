import { type ComponentType, useState } from "react";
import type { Operation } from "../../api/reference-document.ts";
import { Button } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { useToast } from "../../design/toast.tsx";

type DialogProps = { operation: Operation; onClose(): void };

/** Loads the dialog when it is first opened. */
export function TryIt({ operation }: { operation: Operation }) {
  const [Form, setForm] = useState<ComponentType<DialogProps> | null>(null);
  const [isOpen, setOpen] = useState(false);
  const showToast = useToast();
  const open = async () => {
    try {
      const { TryDialog } = await import("./try-dialog.tsx");
      setForm(() => TryDialog);
      setOpen(true);
    } catch {
      showToast("The form could not be loaded. Try again, or reload the page.");
    }
  };
  return (
    <>
      <Button look="primary" className="ml-auto" aria-haspopup="dialog" onClick={() => void open()}>
        <Icon name="playground" />
        Try it
      </Button>
      {isOpen && Form !== null && <Form operation={operation} onClose={() => setOpen(false)} />}
    </>
  );
}
