import { Link } from "@tanstack/react-router";
import type { readLogState } from "../../api/ask-requests.ts";
import { Notice } from "../../design/notice.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { useSession } from "../../parts/session/use-session.ts";

type Gap = Awaited<ReturnType<typeof readLogState>>["gaps"][number];

/** Gaps of the log in the shown period. */
export function LogGaps({ gaps, from = "" }: { gaps: readonly Gap[]; from: string | undefined }) {
  const { time_zone: timeZone } = useSession().account;
  const shown = gaps.filter((gap) => gap.to >= from);
  if (shown.length === 0) return null;
  return (
    <Notice kind="warning" title="Some requests are not in the log.">
      <ul>
        {shown.map((gap) => (
          <li key={gap.from}>
            {formatCount(gap.lost)} between {formatMoment(gap.from, timeZone)} and {formatMoment(gap.to, timeZone)}
          </li>
        ))}
      </ul>
      <p>
        The log could not be written at that time. Everything that was charged is in{" "}
        <Link to="/console/usage" className={linkClasses}>
          Usage
        </Link>
        .
      </p>
    </Notice>
  );
}
