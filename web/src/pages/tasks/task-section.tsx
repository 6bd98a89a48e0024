import { type ReactNode, useId } from "react";

type TaskSectionProps = { title: string; actions?: ReactNode; children: ReactNode };

export function TaskSection({ title, actions, children }: TaskSectionProps) {
  const headingId = useId();
  return (
    <section aria-labelledby={headingId} className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 id={headingId} className="text-lg font-semibold">
          {title}
        </h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
