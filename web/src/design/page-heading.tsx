import { type ReactNode, useEffect, useRef } from "react";
import { joinClasses } from "./join-classes.ts";

let hasShownPage = false;

type PageHeadingProps = {
  children: string;
  intro?: ReactNode;
  /** On a page that says what the whole service is. */
  isLarge?: boolean;
};

/** The page's one heading. After a change of page it takes the focus, so that readers hear where they are. */
export function PageHeading({ children, intro, isLarge = false }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} · ${document.documentElement.dataset.brand ?? "Sluice"}`;
    if (hasShownPage) heading.current?.focus({ preventScroll: true });
    hasShownPage = true;
  }, [children]);
  return (
    <div>
      <h1
        ref={heading}
        tabIndex={-1}
        className={joinClasses("font-semibold outline-none", isLarge ? "text-2xl sm:text-4xl" : "text-xl sm:text-2xl")}
      >
        {children}
      </h1>
      {intro !== undefined && <p className="mt-2 max-w-prose text-ink-soft">{intro}</p>}
    </div>
  );
}
