import { type ReactNode, useEffect, useId, useRef } from "react";

type DialogProps = { title: string; onClose(): void; children: ReactNode };

/** The browser's own dialog: it holds the focus, Escape closes it, and what lies behind cannot be reached. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const headingId = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={headingId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      className="m-auto w-[min(28rem,calc(100vw-2rem))] rounded-lg border border-line bg-surface p-6 text-ink shadow-float"
    >
      <h2 id={headingId} className="text-lg font-semibold">
        {title}
      </h2>
      <div className="mt-3 flex flex-col gap-4">{children}</div>
    </dialog>
  );
}
