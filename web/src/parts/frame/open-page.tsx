import { Link, useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { Announcement } from "./announcement.tsx";
import { BrandLinks } from "./brand-links.tsx";
import { BrandMark } from "./brand-mark.tsx";
import { ThemeChoice } from "./theme-choice.tsx";

const placeClasses =
  "flex min-h-10 items-center rounded-md px-2 text-sm whitespace-nowrap text-ink-soft hover:text-ink sm:px-3 aria-[current=page]:font-medium aria-[current=page]:text-ink";

type OpenPageProps = {
  /** In the footer, beside the theme choice. */
  footnote?: ReactNode;
  /** In the header, before the navigation. */
  search?: ReactNode;
  /** For docs, which have columns beside the text. */
  isWide?: boolean;
  children: ReactNode;
};

/** Header and footer of public pages. */
export function OpenPage({ footnote, search, isWide = false, children }: OpenPageProps) {
  const width = isWide ? "max-w-[92rem]" : "max-w-6xl";
  const { pathname } = useLocation();
  const isReference = /^\/docs(\/reference(\/|$)|$)/.test(pathname);
  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#content"
        className="sr-only focus-visible:not-sr-only focus-visible:absolute focus-visible:z-30 focus-visible:m-2 focus-visible:bg-surface focus-visible:p-2"
      >
        Skip to content
      </a>
      <Announcement />
      <header className="border-b border-line bg-surface">
        <div className={`mx-auto flex h-16 ${width} items-center gap-1 px-4 sm:gap-2 sm:px-8`}>
          <Link to="/" className="mr-auto flex min-w-0 items-center gap-2.5 rounded-sm">
            <BrandMark />
          </Link>
          {search}
          {/* The docs' contents link to both. */}
          <nav aria-label="Site" className={joinClasses("flex items-center", isWide && "max-sm:hidden")}>
            <Link to="/docs/guide" className={placeClasses}>
              Guide
            </Link>
            <Link
              to="/docs"
              activeOptions={{ exact: true }}
              {...(isReference ? { "aria-current": "page" } : {})}
              className={placeClasses}
            >
              Reference
            </Link>
          </nav>
          <Entry />
        </div>
      </header>
      <main id="content" className={`mx-auto w-full ${width} min-w-0 flex-1 px-4 sm:px-8`}>
        {children}
      </main>
      <footer className="border-t border-line">
        <div
          className={`mx-auto flex ${width} flex-wrap items-center justify-between gap-x-8 gap-y-3 px-4 py-6 text-sm text-ink-soft sm:px-8`}
        >
          <div className="min-h-5.5">{footnote}</div>
          <BrandLinks />
          <ThemeChoice />
        </div>
      </footer>
    </div>
  );
}

/** Console or sign-in link; reserves its space until the session is known. */
function Entry() {
  const session = useTableQuery(queryTable.session.current());
  const site = useTableQuery(queryTable.site.settings());
  if (session.isPending || site.isPending) return <div aria-hidden="true" className="h-10 w-20 noscript:hidden" />;
  if (session.data != null) {
    return (
      <Link to="/console" className={buttonClasses("primary", "whitespace-nowrap")}>
        Console
      </Link>
    );
  }
  return (
    <>
      <Link to="/sign-in" className={placeClasses}>
        Sign in
      </Link>
      {site.data?.sign_up === "open" && (
        <Link to="/sign-up" className={buttonClasses("primary", "max-sm:hidden")}>
          Sign up
        </Link>
      )}
    </>
  );
}
