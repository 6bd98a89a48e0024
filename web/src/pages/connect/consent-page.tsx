import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { Notice } from "../../design/notice.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { Spinner } from "../../design/spinner.tsx";
import { FocusPage } from "../../parts/frame/focus-page.tsx";
import { deliverCallback } from "../../parts/session/deliver-callback.ts";
import { MessagePage } from "../message-page.tsx";
import { ConsentForm } from "./consent-form.tsx";

const route = getRouteApi("/signed-in/connect/requests/$id");

type Answer = { kind: "approved" | "denied"; callbackUrl: string | null };

/** A local program, or one that showed a code, requests an API key. */
export function ConsentPage() {
  const { id } = route.useParams();
  const [answer, setAnswer] = useState<Answer | null>(null);
  const request = useTableQuery(queryTable.connect.request(id));
  const proceed = (kind: Answer["kind"], callbackUrl: string | null, popup: Window | null) => {
    setAnswer({ kind, callbackUrl });
    if (callbackUrl !== null) void deliverCallback(callbackUrl, popup);
  };

  if (answer !== null) return <DeliveryResult id={id} {...answer} />;
  if (request.isError)
    return (
      <MessagePage title="This request cannot be answered" message={<InlineCodeText text={request.error.message} />} />
    );
  if (request.data === undefined) {
    return (
      <FocusPage title="Connect a program">
        <Skeleton className="h-64" />
      </FocusPage>
    );
  }
  return (
    <ConsentForm
      id={id}
      request={request.data}
      onApproved={(callbackUrl, popup) => proceed("approved", callbackUrl, popup)}
      onDenied={(callbackUrl, popup) => proceed("denied", callbackUrl, popup)}
    />
  );
}

type DeliveryResultProps = { id: string; kind: "approved" | "denied"; callbackUrl: string | null };

const patienceMs = 4_000;

/** Waits until the program has collected its key, and offers manual delivery after a while. */
function DeliveryResult({ id, kind, callbackUrl }: DeliveryResultProps) {
  const [isLate, setLate] = useState(false);
  const status = useTableQuery(queryTable.connect.status(id), { isEnabled: kind === "approved" });
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  const state = status.data?.state ?? "waiting";

  if (kind === "denied") {
    return (
      <FocusPage title="Denied" intro="No key was created. You can close this page.">
        {callbackUrl !== null && isLate && <ByHand callbackUrl={callbackUrl} label="Notify the program" />}
      </FocusPage>
    );
  }
  if (state === "delivered") {
    return (
      <FocusPage title="Connected" intro="The program has its key. You can close this page and go back to it.">
        <Notice kind="success">You can disconnect it at any time in Settings.</Notice>
      </FocusPage>
    );
  }
  if (state === "expired") {
    return (
      <FocusPage title="Request expired" intro="The program did not collect its key in time. Start again there." />
    );
  }
  return (
    <FocusPage title="Approved" intro="The key is on its way to the program.">
      {isLate && callbackUrl !== null ? (
        <>
          <Notice kind="warning" title="The program has not answered yet">
            <p>If it is still waiting, deliver the key in this tab. If it is connected, you can close this page.</p>
          </Notice>
          <ByHand callbackUrl={callbackUrl} label="Deliver in this tab" />
        </>
      ) : (
        <p role="status" className="flex items-center gap-3 text-sm text-ink-soft">
          <Spinner />
          {callbackUrl === null ? "Go back to the program; it continues automatically." : "Waiting for the program …"}
        </p>
      )}
    </FocusPage>
  );
}

/** Replaces this history entry, so the URL with the key stays out of the browser history. */
function ByHand({ callbackUrl, label }: { callbackUrl: string; label: string }) {
  return (
    <Button look="primary" onClick={() => location.replace(callbackUrl)}>
      {label}
    </Button>
  );
}
