import type { ReactNode } from "react";

export type BadgeKind = "neutral" | "good" | "busy" | "warning" | "bad";

const looks: Record<BadgeKind, string> = {
  neutral: "bg-sunken text-ink-soft",
  good: "bg-success-soft text-success",
  busy: "bg-accent-soft text-accent",
  warning: "bg-warning-soft text-warning",
  bad: "bg-danger-soft text-danger",
};

/** A status in one word. The colour only repeats it. */
export function Badge({ kind = "neutral", children }: { kind?: BadgeKind; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center rounded-sm px-1.5 py-0.5 text-xs font-medium whitespace-nowrap ${looks[kind]}`}
    >
      {children}
    </span>
  );
}
