import type { ReactNode } from "react";

type EmptyStateProps = { title: string; children?: ReactNode; action?: ReactNode };

/** Shown instead of an empty list: what belongs here, and how to add it. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-3 rounded-lg border border-dashed border-line-strong px-6 py-12 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-prose text-sm text-ink-soft">{children}</div>}
      {action}
    </div>
  );
}
