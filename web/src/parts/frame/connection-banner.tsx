import { useLiveState } from "../../api/use-live-changes.ts";
import { Spinner } from "../../design/spinner.tsx";
import { useIsReconnecting } from "./use-connection.ts";

/** Shown while the server is unreachable or live updates are interrupted. It covers no controls. */
export function ConnectionBanner() {
  const isAway = useIsReconnecting();
  const isReconnecting = useLiveState() === "broken" || isAway;
  return (
    <div
      role="status"
      // Above the toasts, away from headings and navigation.
      className="pointer-events-none fixed right-4 bottom-20 z-30 empty:hidden"
    >
      {isReconnecting && (
        <p className="flex items-center gap-2.5 rounded-md border border-warning bg-warning-soft px-4 py-2 text-sm font-medium text-warning shadow-float">
          <Spinner />
          Reconnecting…
        </p>
      )}
    </div>
  );
}
