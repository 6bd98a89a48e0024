import { type ReactNode, useEffect, useRef } from "react";
import { joinClasses } from "./join-classes.ts";

let hasShownPage = false;

type PageHeadingProps = {
  children: string;
  intro?: ReactNode;
  /** For the landing page. */
  isLarge?: boolean;
};

/** The page's h1. It takes focus after navigation, so screen readers announce the page. */
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
