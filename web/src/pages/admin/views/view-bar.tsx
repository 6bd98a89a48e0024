import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { ask } from "../../../api/console-api.ts";
import { Button } from "../../../design/button.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { useAction } from "../../../parts/forms/use-action.ts";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminApi } from "../admin-api.ts";

type ViewBarProps = { email: string; endsAt: string };

/** Over every page of an account that an operator sees: whose it is, and the way back. */
export function ViewBar({ email, endsAt }: ViewBarProps) {
  const { id, time_zone: timeZone } = useSession().account;
  const leave = () => location.assign(`/console/admin/accounts/${id}`);
  const end = useAction(() => ask(adminApi.POST("/view/end", { body: {} })), leave);
  const [place] = useState(createPlace);
  useEffect(() => {
    document.body.prepend(place);
    return () => place.remove();
  }, [place]);
  useEffect(() => {
    // A full load: nothing of the customer's stays in this page.
    const timer = setTimeout(() => location.assign("/console/admin"), Math.max(0, Date.parse(endsAt) - Date.now()));
    return () => clearTimeout(timer);
  }, [endsAt]);
  return createPortal(
    <aside
      aria-label="View of an account"
      className="sticky top-0 z-20 flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-b-2 border-warning bg-warning-soft px-4 py-2 text-sm text-ink sm:px-8"
    >
      <p className="min-w-0 wrap-anywhere">
        You see the account of <strong className="font-semibold">{email}</strong>, read-only, until{" "}
        {formatMoment(endsAt, timeZone)}.{end.errorBeside() !== null && ` ${end.errorBeside()}`}
      </p>
      <Button isBusy={end.isBusy} onClick={() => end.run(undefined)}>
        End view
      </Button>
    </aside>,
    place,
  );
}

/** Before everything else of the page, and without a box, so that the bar sticks to the window. */
function createPlace(): HTMLElement {
  const place = document.createElement("div");
  place.className = "contents";
  return place;
}
