import { api, ask } from "../../api/console-api.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { Button } from "../../design/button.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";

type ResendButtonProps = {
  eventId: string;
  /** Only to this endpoint; else to all recipients. */
  endpointId?: string;
};

export function ResendButton({ eventId, endpointId }: ResendButtonProps) {
  const answers = useQueryCache();
  const showToast = useToast();
  const body = endpointId === undefined ? {} : { webhook_endpoint_id: endpointId };
  const resend = useAction(
    () => ask(api.POST("/events/{id}/resend", { params: { path: { id: eventId } }, body })),
    () => {
      showToast("Event resent with the same ID.");
      return answers.refresh("webhooks");
    },
  );
  return (
    <div className="flex flex-col items-start gap-3">
      <FormError message={resend.errorBeside()} />
      <Button isBusy={resend.isBusy} onClick={() => resend.run(undefined)}>
        Resend
      </Button>
    </div>
  );
}
