import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";

const shownMs = 5_000;
/** Longer, to leave time for Undo. */
const undoableMs = 12_000;

type Toast = { sentence: string; undo: (() => void) | null };
type ShowToast = (sentence: string, undo?: () => void) => void;

const ToastContext = createContext<ShowToast>(() => {});

/**
 * A transient confirmation. `undo` is only for actions that can be reverted completely. Use a `Notice` for anything the
 * user must act on.
 */
export function useToast(): ShowToast {
  return useContext(ToastContext);
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toast, setToast] = useState<Toast | null>(null);
  const show = useCallback<ShowToast>((sentence, undo) => setToast({ sentence, undo: undo ?? null }), []);
  useEffect(() => {
    if (toast === null) return;
    const timer = setTimeout(() => setToast(null), toast.undo === null ? shownMs : undoableMs);
    return () => clearTimeout(timer);
  }, [toast]);
  return (
    <ToastContext value={show}>
      {children}
      <div aria-live="polite" className="pointer-events-none fixed inset-x-0 bottom-6 z-30 flex justify-center px-4">
        {toast !== null && (
          <div className="flex animate-appear items-center gap-3 rounded-md bg-ink px-4 py-2.5 text-sm text-canvas shadow-float">
            <p>{toast.sentence}</p>
            {toast.undo !== null && (
              <button
                type="button"
                className="pointer-events-auto rounded-sm font-medium underline underline-offset-4 focus-visible:outline-canvas"
                onClick={() => {
                  toast.undo?.();
                  setToast(null);
                }}
              >
                Undo
              </button>
            )}
          </div>
        )}
      </div>
    </ToastContext>
  );
}
