import type { ReactNode } from "react";

export function PageNavigation({ previous, next }: { previous: ReactNode; next: ReactNode }) {
  return (
    <nav
      aria-label="Previous and next"
      className="flex flex-wrap justify-between gap-x-8 gap-y-3 border-t border-line pt-6 text-sm"
    >
      <span>{previous}</span>
      <span className="text-right">{next}</span>
    </nav>
  );
}
