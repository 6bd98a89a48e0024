import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";

const shownMs = 5_000;

const ToastContext = createContext<(sentence: string) => void>(() => {});

/** Says in passing that something is done. What the reader must act on belongs into a `Notice`. */
export function useToast(): (sentence: string) => void {
  return useContext(ToastContext);
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toast, setToast] = useState<{ sentence: string } | null>(null);
  const show = useCallback((sentence: string) => setToast({ sentence }), []);
  useEffect(() => {
    if (toast === null) return;
    const timer = setTimeout(() => setToast(null), shownMs);
    return () => clearTimeout(timer);
  }, [toast]);
  return (
    <ToastContext value={show}>
      {children}
      <div aria-live="polite" className="pointer-events-none fixed inset-x-0 bottom-6 z-30 flex justify-center px-4">
        {toast !== null && (
          <p className="rounded-md bg-ink px-4 py-2.5 text-sm text-canvas shadow-float">{toast.sentence}</p>
        )}
      </div>
    </ToastContext>
  );
}
