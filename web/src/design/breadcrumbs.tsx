import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

/** Links to the parent pages, outermost first. */
export function Breadcrumbs({ links }: { links: readonly { id: string; link: ReactNode }[] }) {
  return (
    <nav aria-label="Breadcrumbs" className="mb-1.5 text-sm text-ink-soft">
      <ol className="flex flex-wrap items-center gap-x-1.5">
        {links.map(({ id, link }) => (
          <li
            key={id}
            className="flex items-center gap-1.5 [&>a]:rounded-sm [&>a]:hover:text-ink [&>a]:hover:underline"
          >
            {link}
            <Icon name="chevron" className="size-3" />
          </li>
        ))}
      </ol>
    </nav>
  );
}
