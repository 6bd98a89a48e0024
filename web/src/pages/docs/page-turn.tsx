import type { ReactNode } from "react";

/** What comes before a page and after it, at its foot. */
export function PageTurn({ previous, next }: { previous: ReactNode; next: ReactNode }) {
  return (
    <nav
      aria-label="Before and after"
      className="flex flex-wrap justify-between gap-x-8 gap-y-3 border-t border-line pt-6 text-sm"
    >
      <span>{previous}</span>
      <span className="text-right">{next}</span>
    </nav>
  );
}
