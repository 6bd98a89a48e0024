import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Notice } from "../../design/notice.tsx";
import { describeAttempt } from "../../parts/format/delivery-words.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";

export function TestEvent({ endpointId }: { endpointId: string }) {
  const answers = useAnswerCache();
  const [eventId, setEventId] = useState<string | null>(null);
  const send = useAction(
    () => ask(api.POST("/webhook_endpoints/{id}/test", { params: { path: { id: endpointId } }, body: {} })),
    ({ id }) => {
      setEventId(id);
      return answers.refresh("webhooks");
    },
  );
  return (
    <div className="flex flex-col gap-3">
      <div>
        <Button isBusy={send.isBusy} onClick={() => send.run(undefined)}>
          Send test event
        </Button>
      </div>
      <FormError message={send.errorBeside()} />
      {eventId !== null && <Outcome key={eventId} eventId={eventId} />}
    </div>
  );
}

function Outcome({ eventId }: { eventId: string }) {
  const { data, error } = useTableQuery(queryTable.webhooks.eventDeliveries(eventId));
  const attempt = data?.data[0]?.attempts.at(-1);
  if (error !== null) return <Notice kind="error">{error.message}</Notice>;
  if (attempt === undefined) return <Notice kind="hint">Sending the test event …</Notice>;
  return data?.data[0]?.status === "succeeded" ? (
    <Notice kind="success" title="Test event delivered">
      Your endpoint {describeAttempt(attempt)}.
    </Notice>
  ) : (
    <Notice kind="warning" title="Test event not delivered">
      Result: {describeAttempt(attempt)}. It is retried like any other event; see the log below.
    </Notice>
  );
}
