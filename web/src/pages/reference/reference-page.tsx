import { areas, loaders } from "virtual:reference";
import type { QueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ComponentProps, Suspense, use } from "react";
import { queryTable } from "../../api/query-table.ts";
import type { AreaEntry } from "../../api/reference-document.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Breadcrumbs } from "../../design/breadcrumbs.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { PageNavigation } from "../docs/page-navigation.tsx";
import { NotFoundPage } from "../message-page.tsx";
import { OperationList } from "./operation-list.tsx";
import type { OperationView } from "./operation-view.tsx";

/** Preloaded in parallel with its data; the heading waits for neither. */
let View: typeof OperationView | null = null;
const loadingView = import("./operation-view.tsx").then((module) => {
  View = module.OperationView;
});

const pages = areas.flatMap((area) => [
  { name: area.slug, title: area.title },
  ...area.operations.map(({ slug, summary }) => ({ name: slug, title: summary })),
]);

const upward = {
  id: "docs",
  link: (
    <Link to="/docs" activeOptions={{ exact: true }}>
      API reference
    </Link>
  ),
};

export function ReferencePage() {
  const { name = "" } = useParams({ strict: false });
  const area = findArea(name);
  if (area === undefined) return <NotFoundPage />;
  return (
    <div className="flex flex-col gap-10">
      {area.slug === name ? <AreaView key={name} area={area} /> : <OperationPage key={name} area={area} slug={name} />}
      <Turn name={name} />
    </div>
  );
}

/** Prefetches the operations of an area, if it exists. */
export async function prefetch(queries: QueryClient, { name = "" }: { name?: string }): Promise<void> {
  const area = findArea(name);
  if (area === undefined || area.slug === name) return;
  await Promise.all([queries.ensureQueryData(queryArea(area)), loadingView]);
}

/** The area by its name or by one of its operations. */
function findArea(name: string): AreaEntry | undefined {
  return areas.find(({ slug, operations }) => slug === name || operations.some((one) => one.slug === name));
}

function queryArea({ slug }: AreaEntry) {
  return queryTable.reference.area({ id: slug, load: loaders[slug] ?? (() => Promise.resolve({ operations: [] })) });
}

function AreaView({ area }: { area: AreaEntry }) {
  return (
    <div className="flex max-w-4xl flex-col gap-6">
      <div>
        <Breadcrumbs links={[upward]} current={area.title} />
        <PageHeading>{area.title}</PageHeading>
      </div>
      <OperationList operations={area.operations} />
    </div>
  );
}

function OperationPage({ area, slug }: { area: AreaEntry; slug: string }) {
  const { data, error, refetch } = useTableQuery(queryArea(area));
  const operation = data?.find((one) => one.slug === slug);
  const entry = area.operations.find((one) => one.slug === slug);
  return (
    <article className="flex flex-col gap-6">
      <div>
        <Breadcrumbs
          links={[
            upward,
            {
              id: area.slug,
              link: (
                <Link to="/docs/reference/$name" params={{ name: area.slug }}>
                  {area.title}
                </Link>
              ),
            },
          ]}
          current={entry?.summary ?? ""}
        />
        <PageHeading>{entry?.summary ?? ""}</PageHeading>
      </div>
      {operation !== undefined && (
        <Suspense fallback={<Skeleton className="h-dvh" />}>
          <LoadedView operation={operation} />
        </Suspense>
      )}
      {data === undefined && error === null && <Skeleton className="h-dvh" />}
      {error !== null && <LoadFailure error={error} onRetry={() => void refetch()} />}
    </article>
  );
}

/** Renders at once if its code is loaded. */
function LoadedView(props: ComponentProps<typeof OperationView>) {
  if (View === null) use(loadingView);
  return View === null ? null : <View {...props} />;
}

function Turn({ name }: { name: string }) {
  const at = pages.findIndex((page) => page.name === name);
  const link = (page: (typeof pages)[number] | undefined, word: string) =>
    page && (
      <Link to="/docs/reference/$name" params={{ name: page.name }} className={linkClasses}>
        {word}: {page.title}
      </Link>
    );
  return <PageNavigation previous={link(pages[at - 1], "Previous")} next={link(pages[at + 1], "Next")} />;
}
