import { areas } from "virtual:reference";
import { Link, useLocation } from "@tanstack/react-router";
import { useLayoutEffect, useRef } from "react";
import type { AreaEntry } from "../../api/reference-document.ts";
import { Icon } from "../../design/icon.tsx";
import { ChapterLink } from "../guide/chapter-link.tsx";
import { chapterGroups } from "../guide/chapters.ts";
import { MethodLabel } from "../reference/method-label.tsx";

const entryClasses =
  "flex min-h-8 items-center rounded-md px-2.5 py-1 text-sm text-ink-soft hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent max-lg:min-h-11";

/** Start position of the column; browsers that support the property need no script. */
const startProps = { "data-start": "", className: "[scroll-initial-target:nearest]" };

const groupClasses = "px-2.5 pb-1 text-xs font-medium text-ink-soft";

/** Chapters and reference areas: beside the text, or collapsed in a narrow window. */
export function DocsContents() {
  const { pathname } = useLocation();
  return (
    <>
      {/* Close it after a page is chosen. */}
      <details key={pathname} className="rounded-md border border-line bg-surface lg:hidden">
        <summary className="flex min-h-11 items-center gap-2 px-3 text-sm font-medium">
          <Icon name="menu" />
          Contents
        </summary>
        <div className="px-1 pt-1 pb-3">
          {/* Not prerendered: it cannot be expanded before the script loads. */}
          {import.meta.env.SSR ? null : <ContentsList pathname={pathname} />}
        </div>
      </details>
      <Column pathname={pathname} />
    </>
  );
}

/** Scrolls to the current page on load. */
function Column({ pathname }: { pathname: string }) {
  const column = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current entry is found in the DOM.
  useLayoutEffect(() => {
    const open = column.current?.querySelector<HTMLElement>("[aria-current=page]");
    if (column.current == null || open == null) return;
    const { offsetTop } = open;
    const { scrollTop, clientHeight } = column.current;
    if (offsetTop >= scrollTop && offsetTop <= scrollTop + clientHeight - 80) return;
    column.current.scrollTop = open.closest<HTMLElement>("[data-start]")?.offsetTop ?? offsetTop - 160;
  }, [pathname]);
  return (
    <div ref={column} className="sticky top-0 -ml-2.5 max-h-dvh overflow-y-auto py-10 max-lg:hidden">
      <ContentsList pathname={pathname} />
    </div>
  );
}

function ContentsList({ pathname }: { pathname: string }) {
  return (
    <div className="flex flex-col gap-8">
      <nav aria-label="Chapters" className="flex flex-col gap-5">
        {chapterGroups.map(({ name, chapters }) => (
          <div key={name}>
            <p className={groupClasses}>{name}</p>
            <ul className="flex flex-col gap-0.5">
              {chapters.map((chapter) => (
                <li key={chapter.id}>
                  <ChapterLink chapter={chapter} className={entryClasses}>
                    {chapter.title}
                  </ChapterLink>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <nav aria-label="API reference">
        <p className={groupClasses}>API reference</p>
        <ul className="flex flex-col gap-0.5">
          <li {...(pathname === "/docs" ? startProps : {})}>
            <Link to="/docs" activeOptions={{ exact: true }} className={entryClasses}>
              Overview
            </Link>
          </li>
          {areas.map((area) => (
            <Area key={area.slug} area={area} pathname={pathname} />
          ))}
        </ul>
      </nav>
    </div>
  );
}

/** Lists the operations of the open area only. */
function Area({ area, pathname }: { area: AreaEntry; pathname: string }) {
  const name = pathname.replace("/docs/reference/", "");
  const isOpen = area.slug === name || area.operations.some(({ slug }) => slug === name);
  return (
    <li {...(isOpen ? startProps : {})}>
      <Link to="/docs/reference/$name" params={{ name: area.slug }} className={entryClasses}>
        {area.title}
      </Link>
      {isOpen && (
        <ul aria-label={area.title} className="my-1 ml-2.5 flex flex-col gap-0.5 border-l border-line pl-2">
          {area.operations.map(({ slug, method, summary }) => (
            <li key={slug}>
              <Link to="/docs/reference/$name" params={{ name: slug }} className={`${entryClasses} gap-2 pl-2`}>
                <span className="min-w-0 flex-1">{summary}</span>
                <MethodLabel method={method} />
              </Link>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
