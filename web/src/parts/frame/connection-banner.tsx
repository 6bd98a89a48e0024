import { useLiveState } from "../../api/use-live-changes.ts";
import { Spinner } from "../../design/spinner.tsx";
import { useIsReconnecting } from "./use-connection.ts";

/** Says that the server is away while it is, or that it cannot tell of changes at the moment. It covers nothing that can be used, and nothing is lost meanwhile. */
export function ConnectionBanner() {
  const isAway = useIsReconnecting();
  const isReconnecting = useLiveState() === "broken" || isAway;
  return (
    <div
      role="status"
      // Above the place of toasts, and away from headings and places.
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
