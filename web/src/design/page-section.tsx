import { type ReactNode, useId } from "react";

type PageSectionProps = { title: string; intro?: ReactNode; actions?: ReactNode; children?: ReactNode };

/** A section without a box. */
export function PageSection({ title, intro, actions, children }: PageSectionProps) {
  const headingId = useId();
  return (
    <section aria-labelledby={headingId} className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-3">
        <div className="max-w-prose">
          <h2 id={headingId} className="text-lg font-semibold">
            {title}
          </h2>
          {intro !== undefined && <p className="mt-1 text-sm text-ink-soft">{intro}</p>}
        </div>
        {actions !== undefined && <div className="flex min-w-0 flex-wrap gap-3">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
