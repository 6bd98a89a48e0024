import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Breadcrumbs } from "../../design/breadcrumbs.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";

type ConsoleFrameProps = {
  title: string;
  intro?: ReactNode;
  /** The parent pages, outermost first. */
  parents?: readonly { to: string; name: string }[];
  /** Page actions beside the heading. */
  actions?: ReactNode;
  children: ReactNode;
};

/** A console page. Prerendered without content, which needs the script anyway. */
export function ConsoleFrame({ title, intro, parents = [], actions, children }: ConsoleFrameProps) {
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-8 px-4 py-6 sm:px-8 sm:py-8">
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-4">
        <div className="min-w-0">
          {parents.length > 0 && (
            <Breadcrumbs
              links={parents.map(({ to, name }) => ({ id: to, link: <ParentLink to={to} name={name} /> }))}
              current={title}
            />
          )}
          <PageHeading intro={intro}>{title}</PageHeading>
        </div>
        {!import.meta.env.SSR && actions !== undefined && <div className="flex min-w-0 flex-wrap gap-3">{actions}</div>}
      </div>
      {import.meta.env.SSR ? <Skeleton className="h-96" /> : children}
    </div>
  );
}

/** `exact`: the router would mark the parent, too, as the current page. */
function ParentLink({ to, name }: { to: string; name: string }) {
  return (
    <Link to={to} activeOptions={{ exact: true }}>
      {name}
    </Link>
  );
}
