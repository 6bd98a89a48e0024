import { type ReactNode, useEffect, useRef } from "react";

let hasShownPage = false;

/** The page's one heading. After a change of page it takes the focus, so that readers hear where they are. */
export function PageHeading({ children, intro }: { children: string; intro?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} · Sluice`;
    if (hasShownPage) heading.current?.focus({ preventScroll: true });
    hasShownPage = true;
  }, [children]);
  return (
    <div>
      <h1 ref={heading} tabIndex={-1} className="text-xl font-semibold outline-none sm:text-2xl">
        {children}
      </h1>
      {intro !== undefined && <p className="mt-2 max-w-prose text-ink-soft">{intro}</p>}
    </div>
  );
}
