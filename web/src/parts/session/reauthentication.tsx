import { createContext, lazy, type ReactNode, Suspense, useCallback, useContext, useRef, useState } from "react";
import { ApiError } from "../../api/console-api.ts";

/** Loaded on demand: most visits never need it. */
const ReauthenticationDialog = lazy(async () => ({
  default: (await import("./reauthentication-dialog.tsx")).ReauthenticationDialog,
}));

type Repeat = <Output>(perform: () => Promise<Output>) => Promise<Output>;

const ReauthenticationContext = createContext<Repeat>((perform) => perform());

/** Runs an action. If the server requires reauthentication, shows the dialog and repeats the action. */
export function useReauthentication(): Repeat {
  return useContext(ReauthenticationContext);
}

type Pending = { resolve(): void; reject(error: Error): void };

export function ReauthenticationProvider({ children }: { children: ReactNode }) {
  const [isAsking, setAsking] = useState(false);
  const pending = useRef<Pending | null>(null);

  const repeat = useCallback<Repeat>(async (perform) => {
    try {
      return await perform();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "reauthentication_required") throw error;
      await new Promise<void>((resolve, reject) => {
        pending.current = { resolve, reject };
        setAsking(true);
      });
      return await perform();
    }
  }, []);

  const finish = (outcome: "proven" | "given-up") => {
    setAsking(false);
    if (outcome === "proven") pending.current?.resolve();
    else pending.current?.reject(new Error("Nothing was changed: you did not confirm your identity."));
    pending.current = null;
  };

  return (
    <ReauthenticationContext value={repeat}>
      {children}
      <Suspense>
        {isAsking && <ReauthenticationDialog onProven={() => finish("proven")} onGivenUp={() => finish("given-up")} />}
      </Suspense>
    </ReauthenticationContext>
  );
}
