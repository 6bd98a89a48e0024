import type { ReactNode } from "react";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { Announcement } from "./announcement.tsx";
import { BrandLinks } from "./brand-links.tsx";
import { BrandMark } from "./brand-mark.tsx";
import { ThemeChoice } from "./theme-choice.tsx";

type FocusPageProps = {
  title: string;
  intro?: ReactNode;
  children?: ReactNode;
  below?: ReactNode;
  /** Height of the content, to avoid layout shift. */
  keptHeight?: string;
};

/** A page with a single task, such as sign-in or consent. */
export function FocusPage({ title, intro, children, below, keptHeight = "h-64" }: FocusPageProps) {
  return (
    <div className="flex min-h-dvh flex-col">
      <Announcement />
      <div className="flex flex-1 flex-col items-center px-4 py-6 sm:py-10">
        <header className="flex w-full max-w-md items-center gap-2.5 pb-6 sm:pt-8">
          <BrandMark />
        </header>
        <main className="w-full max-w-md">
          <div className="flex flex-col gap-6 rounded-lg border border-line bg-surface p-6 shadow-card sm:p-8">
            <PageHeading intro={intro}>{title}</PageHeading>
            {import.meta.env.SSR ? <Skeleton className={keptHeight} /> : children}
          </div>
          {below !== undefined && <div className="px-6 pt-5 text-center text-sm text-ink-soft">{below}</div>}
        </main>
        <footer className="mt-auto flex w-full max-w-md flex-wrap items-center justify-between gap-x-4 gap-y-2 pt-10 text-sm text-ink-soft">
          <a href="/docs" className="underline-offset-4 hover:text-ink hover:underline">
            API reference
          </a>
          <BrandLinks />
          <ThemeChoice />
        </footer>
      </div>
    </div>
  );
}

export const linkClasses = "font-medium text-accent underline underline-offset-4 hover:text-accent-strong";
