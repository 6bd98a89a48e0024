import type { QueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type Block, flattenSpans } from "../../api/guide-document.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Breadcrumbs } from "../../design/breadcrumbs.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { PageNavigation } from "../docs/page-navigation.tsx";
import { useHashTarget } from "../docs/use-hash-target.ts";
import { NotFoundPage } from "../message-page.tsx";
import { ChapterLink } from "./chapter-link.tsx";
import { findChapter, findNeighbours, firstChapter } from "./chapters.ts";
import { DocumentView } from "./document-view.tsx";

type Chapter = NonNullable<ReturnType<typeof findChapter>>;

export function GuidePage() {
  const { chapter: id } = useParams({ strict: false });
  const chapter = findChapter(id);
  return chapter === null ? <NotFoundPage /> : <ChapterPage key={chapter.id} chapter={chapter} />;
}

/** Prefetches the chapter's text, if the chapter exists. */
export async function prefetch(queries: QueryClient, params: { chapter?: string }): Promise<void> {
  const chapter = findChapter(params.chapter);
  if (chapter !== null) await queries.ensureQueryData(queryChapter(chapter));
}

const queryChapter = ({ id, load }: Chapter) => queryTable.guide.chapter({ id, load });

function ChapterPage({ chapter }: { chapter: Chapter }) {
  const { data: blocks, error, refetch } = useTableQuery(queryChapter(chapter));
  useHashTarget(blocks !== undefined);
  return (
    <div className="grid gap-x-12 gap-y-6 xl:grid-cols-[minmax(0,1fr)_12rem]">
      <article className="flex min-w-0 max-w-3xl flex-col gap-6">
        {blocks !== undefined && <ChapterText blocks={blocks} isFirst={chapter === firstChapter} />}
        {blocks === undefined && error === null && <Skeleton className="h-dvh" />}
        {error !== null && <LoadFailure error={error} onRetry={() => void refetch()} />}
        <Onwards chapter={chapter} />
      </article>
      <Headings blocks={blocks ?? []} />
    </div>
  );
}

/** The document's title is the page heading. */
function ChapterText({ blocks, isFirst }: { blocks: readonly Block[]; isFirst: boolean }) {
  const [title, ...body] = blocks;
  return (
    <>
      {title?.kind === "heading" && (
        <div>
          {!isFirst && (
            <Breadcrumbs
              links={[
                {
                  id: "guide",
                  link: (
                    <Link to="/docs/guide" activeOptions={{ exact: true }}>
                      Guide
                    </Link>
                  ),
                },
              ]}
              current={flattenSpans(title.spans)}
            />
          )}
          <PageHeading>{flattenSpans(title.spans)}</PageHeading>
        </div>
      )}
      <DocumentView blocks={body} />
    </>
  );
}

function Headings({ blocks }: { blocks: readonly Block[] }) {
  const headings = blocks.flatMap((block) => (block.kind === "heading" && block.level === 2 ? [block] : []));
  if (headings.length < 2) return <div className="max-xl:hidden" />;
  return (
    <nav aria-label="On this page" className="max-xl:hidden">
      <div className="sticky top-6 flex max-h-[calc(100dvh-3rem)] flex-col gap-1 overflow-y-auto border-l border-line pl-4">
        <p className="pb-1 text-xs font-medium text-ink-soft">On this page</p>
        {headings.map(({ id, spans }) => (
          <a key={id} href={`#${id}`} className="py-1 text-sm text-ink-soft hover:text-ink">
            {flattenSpans(spans)}
          </a>
        ))}
      </div>
    </nav>
  );
}

function Onwards({ chapter }: { chapter: Chapter }) {
  const { previous, next } = findNeighbours(chapter);
  return (
    <div className="mt-6 flex flex-col gap-6">
      <p className="text-sm text-ink-soft">
        Every field is in the{" "}
        <Link to="/docs" activeOptions={{ exact: true }} className={linkClasses}>
          reference
        </Link>
        ; your keys are in the{" "}
        <Link to="/console/keys" className={linkClasses}>
          console
        </Link>
        .
      </p>
      <PageNavigation
        previous={
          previous && (
            <ChapterLink chapter={previous} className={linkClasses}>
              Previous: {previous.title}
            </ChapterLink>
          )
        }
        next={
          next && (
            <ChapterLink chapter={next} className={linkClasses}>
              Next: {next.title}
            </ChapterLink>
          )
        }
      />
    </div>
  );
}
