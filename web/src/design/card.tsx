import { type ReactNode, useId } from "react";

type CardProps = { title: string; intro?: ReactNode; actions?: ReactNode; children?: ReactNode };

export function Card({ title, intro, actions, children }: CardProps) {
  const headingId = useId();
  return (
    <section aria-labelledby={headingId} className="rounded-lg border border-line bg-surface p-5 shadow-card sm:p-7">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="max-w-prose">
          <h2 id={headingId} className="text-lg font-semibold">
            {title}
          </h2>
          {intro !== undefined && <p className="mt-1 text-sm text-ink-soft">{intro}</p>}
        </div>
        {actions}
      </div>
      {children !== undefined && <div className="mt-5">{children}</div>}
    </section>
  );
}
