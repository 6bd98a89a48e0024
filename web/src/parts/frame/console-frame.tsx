import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Breadcrumbs } from "../../design/breadcrumbs.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";

type ConsoleFrameProps = {
  title: string;
  intro?: ReactNode;
  /** The parent list page. */
  parent?: { to: string; name: string };
  /** Page actions beside the heading. */
  actions?: ReactNode;
  children: ReactNode;
};

/** A console page. Prerendered without content, which needs the script anyway. */
export function ConsoleFrame({ title, intro, parent, actions, children }: ConsoleFrameProps) {
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-8 px-4 py-6 sm:px-8 sm:py-8">
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-4">
        <div className="min-w-0">
          {parent !== undefined && (
            <Breadcrumbs links={[{ id: parent.to, link: <Link to={parent.to}>{parent.name}</Link> }]} />
          )}
          <PageHeading intro={intro}>{title}</PageHeading>
        </div>
        {!import.meta.env.SSR && actions !== undefined && <div className="flex min-w-0 flex-wrap gap-3">{actions}</div>}
      </div>
      {import.meta.env.SSR ? <Skeleton className="h-96" /> : children}
    </div>
  );
}
