import type { ReactNode } from "react";
import { linkClasses } from "../frame/focus-page.tsx";

/** The operator's contact: e-mail or page. */
export function SupportContact({ contact }: { contact: string | null }): ReactNode {
  if (contact === null) return "the operator";
  const isPage = /^https?:/.test(contact);
  return (
    <a href={isPage ? contact : `mailto:${contact}`} className={linkClasses}>
      {isPage ? "the operator" : contact}
    </a>
  );
}
