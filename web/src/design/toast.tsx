import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";

const shownMs = 5_000;
/** Who may change their mind needs longer. */
const undoableMs = 12_000;

type Toast = { sentence: string; undo: (() => void) | null };
type ShowToast = (sentence: string, undo?: () => void) => void;

const ToastContext = createContext<ShowToast>(() => {});

/**
 * Says in passing that something is done, and takes it back where that is possible: only what is then as it was before
 * has an `undo`. What the reader must act on belongs into a `Notice`.
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
