import { Button } from "../../design/button.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { useAdminPlace } from "./admin-place.tsx";

/** Which period a list shows, if a link chose one. */
export function PeriodNote() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const { from, to } = search;
  if (from === undefined && to === undefined) return null;
  const write = (time: string | undefined): string => (time === undefined ? "…" : formatMoment(time, timeZone));
  return (
    <p className="flex flex-wrap items-center gap-3 text-sm text-ink-soft">
      {`${write(from)} – ${write(to)}`}
      <Button look="quiet" onClick={() => change({ from: "", to: "" })}>
        Show any time
      </Button>
    </p>
  );
}
