import { Link, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { type Block, flattenSpans } from "../../api/guide-document.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Icon } from "../../design/icon.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { OpenPage } from "../../parts/frame/open-page.tsx";
import { NotFoundPage } from "../message-page.tsx";
import { chapterGroups, findChapter, findNextChapter, firstChapter } from "./chapters.ts";
import { DocumentView } from "./document-view.tsx";

type Chapter = NonNullable<ReturnType<typeof findChapter>>;

/** How to use the service, chapter by chapter. */
export function GuidePage() {
  const { chapter: id } = useParams({ strict: false });
  const chapter = findChapter(id);
  return chapter === null ? <NotFoundPage /> : <ChapterPage key={chapter.id} chapter={chapter} />;
}

function ChapterPage({ chapter }: { chapter: Chapter }) {
  const { id, load } = chapter;
  const { data: blocks, error, refetch } = useTableQuery(queryTable.guide.chapter({ id, load }));
  useEffect(() => {
    // The address may name a heading that was not there yet when the browser looked for it.
    if (blocks !== undefined && location.hash !== "") {
      document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
    }
  }, [blocks]);
  return (
    <OpenPage>
      <div className="grid gap-x-12 gap-y-6 py-6 sm:py-10 lg:grid-cols-[12rem_minmax(0,1fr)] xl:grid-cols-[12rem_minmax(0,1fr)_12rem]">
        <Contents chosen={chapter} />
        <article className="flex min-w-0 max-w-3xl flex-col gap-6">
          {blocks !== undefined && <ChapterText blocks={blocks} />}
          {blocks === undefined && error === null && <Skeleton className="h-dvh" />}
          {error !== null && <LoadFailure error={error} onRetry={() => void refetch()} />}
          <Onwards chapter={chapter} />
        </article>
        <Headings blocks={blocks ?? []} />
      </div>
    </OpenPage>
  );
}

/** The document's own title is the page's. */
function ChapterText({ blocks }: { blocks: readonly Block[] }) {
  const [title, ...body] = blocks;
  return (
    <>
      {title?.kind === "heading" && <PageHeading>{flattenSpans(title.spans)}</PageHeading>}
      <DocumentView blocks={body} />
    </>
  );
}

const entryClasses =
  "block rounded-md px-2.5 py-1.5 text-sm text-ink-soft hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent max-lg:py-2.5";

/** All chapters: beside the text, or behind a line in a narrow window. */
function Contents({ chosen }: { chosen: Chapter }) {
  const list = (
    <div className="flex flex-col gap-5">
      {chapterGroups.map(({ name, chapters }) => (
        <div key={name}>
          <p className="px-2.5 pb-1 text-xs font-medium text-ink-soft">{name}</p>
          <ul className="flex flex-col gap-0.5">
            {chapters.map((chapter) => (
              <li key={chapter.id}>
                <ChapterLink chapter={chapter} isChosen={chapter === chosen} className={entryClasses} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
  return (
    <nav aria-label="Chapters" className="text-sm">
      <details className="rounded-md border border-line bg-surface lg:hidden">
        <summary className="flex min-h-11 items-center gap-2 px-3 font-medium">
          <Icon name="menu" />
          Chapters
        </summary>
        <div className="px-1 pb-3">{list}</div>
      </details>
      <div className="sticky top-6 max-lg:hidden">{list}</div>
    </nav>
  );
}

function ChapterLink({ chapter, isChosen, className }: { chapter: Chapter; isChosen: boolean; className: string }) {
  const more = { className, ...(isChosen ? { "aria-current": "page" as const } : {}) };
  return chapter === firstChapter ? (
    <Link to="/docs/guide" activeOptions={{ exact: true }} {...more}>
      {chapter.title}
    </Link>
  ) : (
    <Link to="/docs/guide/$chapter" params={{ chapter: chapter.id }} {...more}>
      {chapter.title}
    </Link>
  );
}

/** What is on this page, where the window has room for it. */
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
  const next = findNextChapter(chapter);
  return (
    <div className="mt-6 flex flex-wrap items-center justify-between gap-x-8 gap-y-3 border-t border-line pt-6 text-sm">
      <span className="text-ink-soft">
        Every field is in the{" "}
        <a href="/docs" className={linkClasses}>
          reference
        </a>
        ; your keys are in the{" "}
        <Link to="/console/keys" className={linkClasses}>
          console
        </Link>
        .
      </span>
      {next !== null && (
        <Link to="/docs/guide/$chapter" params={{ chapter: next.id }} className={linkClasses}>
          Next: {next.title}
        </Link>
      )}
    </div>
  );
}
