import { type ReactNode, type Ref, useId } from "react";

type SectionProps = {
  title: string;
  intro?: ReactNode;
  /** Actions beside the heading. */
  actions?: ReactNode;
  /** For moving focus to the heading. */
  headingRef?: Ref<HTMLHeadingElement>;
  children?: ReactNode;
};

/** A section with a heading, without a box. */
export function Section({ title, intro, actions, headingRef, children }: SectionProps) {
  const headingId = useId();
  return (
    <section aria-labelledby={headingId} className="flex min-w-0 flex-col gap-4">
      <div className="flex min-h-10 flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <div className="min-w-0 max-w-prose">
          <h2 id={headingId} ref={headingRef} tabIndex={-1} className="text-lg font-semibold outline-none">
            {title}
          </h2>
          {intro !== undefined && <p className="mt-0.5 text-sm text-ink-soft">{intro}</p>}
        </div>
        {actions !== undefined && <div className="flex min-w-0 flex-wrap items-center gap-3">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
