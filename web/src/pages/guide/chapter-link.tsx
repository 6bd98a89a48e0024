import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { firstChapter } from "./chapters.ts";

type ChapterLinkProps = { chapter: { id: string }; className: string; children: ReactNode };

/** The first chapter lives at the guide's own URL. */
export function ChapterLink({ chapter, className, children }: ChapterLinkProps) {
  return chapter.id === firstChapter.id ? (
    <Link to="/docs/guide" activeOptions={{ exact: true }} className={className}>
      {children}
    </Link>
  ) : (
    <Link to="/docs/guide/$chapter" params={{ chapter: chapter.id }} className={className}>
      {children}
    </Link>
  );
}
