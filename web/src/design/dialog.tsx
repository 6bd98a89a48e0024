import { type ReactNode, useId, useLayoutEffect, useRef } from "react";

type DialogProps = { title: string; size?: "narrow" | "wide"; onClose(): void; children: ReactNode };

const widths = { narrow: "w-[min(28rem,calc(100vw-2rem))]", wide: "w-[min(42rem,calc(100vw-2rem))]" };

/** The native dialog: it traps focus, closes on Escape and makes the page behind it inert. */
export function Dialog({ title, size = "narrow", onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const headingId = useId();
  // Close before unmounting, so the browser restores focus.
  useLayoutEffect(() => {
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
      // A second Escape closes it regardless of `preventDefault`.
      onClose={(event) => !event.currentTarget.open && onClose()}
      className={`m-auto max-w-none rounded-lg border border-line bg-surface p-6 text-ink shadow-float ${widths[size]}`}
    >
      <h2 id={headingId} className="text-lg font-semibold">
        {title}
      </h2>
      <div className="mt-3 flex flex-col gap-4">{children}</div>
    </dialog>
  );
}
