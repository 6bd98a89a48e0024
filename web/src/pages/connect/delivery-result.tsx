import { useEffect, useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Notice } from "../../design/notice.tsx";
import { Spinner } from "../../design/spinner.tsx";
import { FocusPage } from "../../parts/focus-page.tsx";

type DeliveryResultProps = { id: string; kind: "approved" | "refused"; callbackUrl: string | null };

const patienceMs = 4_000;

/** Waits for the server to hear of the program, and offers a way by hand when that takes too long. */
export function DeliveryResult({ id, kind, callbackUrl }: DeliveryResultProps) {
  const [isLate, setLate] = useState(false);
  const status = useTableQuery(queryTable.connect.status(id), { isEnabled: kind === "approved" });
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  const state = status.data?.state ?? "waiting";

  if (kind === "refused") {
    return (
      <FocusPage title="Refused" intro="Nothing was handed over. You can close this page.">
        {callbackUrl !== null && isLate && <ByHand callbackUrl={callbackUrl} label="Tell the program" />}
      </FocusPage>
    );
  }
  if (state === "delivered") {
    return (
      <FocusPage title="Connected" intro="The program has its key. You can close this page and go back to it.">
        <Notice kind="success">You can disconnect it at any time under Security.</Notice>
      </FocusPage>
    );
  }
  if (state === "expired") {
    return <FocusPage title="Too late" intro="The program did not come for its key in time. Start again there." />;
  }
  return (
    <FocusPage title="Approved" intro="The key is on its way to the program.">
      {isLate && callbackUrl !== null ? (
        <>
          <Notice kind="warning" title="The program has not answered yet">
            <p>If it still waits, hand the key over in this tab. If it is happy already, you can close this page.</p>
          </Notice>
          <ByHand callbackUrl={callbackUrl} label="Hand over in this tab" />
        </>
      ) : (
        <p role="status" className="flex items-center gap-3 text-sm text-ink-soft">
          <Spinner />
          {callbackUrl === null ? "Go back to the program; it goes on by itself." : "Waiting for the program …"}
        </p>
      )}
    </FocusPage>
  );
}

/** The page gives way to the program's own, so that the address with the key is in no history of this site. */
function ByHand({ callbackUrl, label }: { callbackUrl: string; label: string }) {
  return (
    <Button look="primary" onClick={() => location.replace(callbackUrl)}>
      {label}
    </Button>
  );
}
