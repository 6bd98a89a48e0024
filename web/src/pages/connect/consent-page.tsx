import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Skeleton } from "../../design/skeleton.tsx";
import { FocusPage } from "../../parts/frame/focus-page.tsx";
import { deliverCallback } from "../../parts/session/deliver-callback.ts";
import { MessagePage } from "../message-page.tsx";
import { ConsentForm } from "./consent-form.tsx";
import { DeliveryResult } from "./delivery-result.tsx";

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
  if (request.isError) return <MessagePage title="This request cannot be answered" message={request.error.message} />;
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
