import type { UptimeLine } from "../../api/fetch-uptime.ts";
import { describeDays, groupDays, type StatusDay } from "./describe-days.ts";

const barWidth = 3;
const gap = 1;
const height = 30;

const looks: Record<StatusDay["state"], string> = {
  ok: "text-success",
  degraded: "text-warning",
  down: "text-danger",
  few: "text-ink-soft",
  none: "text-line-strong",
};

/** A bar per day. One shape per state: a service with many models would otherwise draw thousands. */
export function UptimeBars({ days }: { days: UptimeLine["days"] }) {
  const width = days.length * (barWidth + gap) - gap;
  return (
    <svg
      role="img"
      aria-label={describeDays(days)}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      className="h-8 w-full"
    >
      {groupDays(days).map(({ state, places }) => (
        <path
          key={state}
          className={`fill-current ${looks[state]}`}
          d={places.map((place) => `M${place * (barWidth + gap)} 0h${barWidth}v${height}h-${barWidth}z`).join("")}
        />
      ))}
    </svg>
  );
}
