import type { ReactNode } from "react";
import { Skeleton } from "./skeleton.tsx";

type StatProps = {
  label: string;
  /** `undefined` shows a placeholder while loading. */
  value: ReactNode | undefined;
  detail?: ReactNode;
};

/** One number with its label. */
export function Stat({ label, value, detail }: StatProps) {
  return (
    <div className="min-w-0">
      <p className="text-sm text-ink-soft">{label}</p>
      <div className="mt-1 min-h-9 text-lg font-semibold tabular-nums sm:text-xl">
        {value === undefined ? <Skeleton className="h-8 w-28" /> : value}
      </div>
      {detail !== undefined && <div className="mt-0.5 min-h-5 text-xs text-ink-soft">{detail}</div>}
    </div>
  );
}
