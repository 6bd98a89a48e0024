import { Link } from "@tanstack/react-router";
import { buttonClasses } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { ConsoleFrame } from "../parts/frame/console-frame.tsx";

export function ConsoleMissingPage() {
  return (
    <ConsoleFrame title="Page not found">
      <EmptyState
        title="The console has no page at this address"
        action={
          <Link to="/console" className={buttonClasses("plain")}>
            Go to the overview
          </Link>
        }
      >
        Check the address for typos, or choose a page in the navigation.
      </EmptyState>
    </ConsoleFrame>
  );
}
