import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

type BreadcrumbsProps = {
  /** Links to the parent pages, outermost first. */
  links: readonly { id: string; link: ReactNode }[];
  /** The name of this page. */
  current: string;
};

export function Breadcrumbs({ links, current }: BreadcrumbsProps) {
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
        <li aria-current="page" className="max-w-48 truncate sm:max-w-80">
          {current}
        </li>
      </ol>
    </nav>
  );
}
