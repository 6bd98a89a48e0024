import { Link } from "@tanstack/react-router";
import { api, ask } from "../../api/console-api.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { Notice } from "../../design/notice.tsx";
import { FormError } from "../../parts/form-error.tsx";
import { useAction } from "../../parts/use-action.ts";

/** A drama takes so long that somebody has to hear of its end. The event inbox is the shortest way to that. */
export function WebhookNeeded({ onOpened }: { onOpened(): void }) {
  const open = useAction(() => ask(api.POST("/event_inbox", { body: {} })), onOpened);
  return (
    <div className="flex flex-col gap-3">
      <Notice kind="warning" title="A drama needs somebody who hears of its end">
        <p>
          It takes long, so the account needs a webhook endpoint, or its event inbox has to be open: then you read its
          events in the console or by the API. What you typed here stays.
        </p>
        <div className="mt-3 flex flex-wrap gap-x-4 gap-y-2">
          <Button onClick={() => open.run(undefined)} isBusy={open.isBusy}>
            Open the event inbox and go on
          </Button>
          <Link to="/console/webhooks" className={buttonClasses("quiet")}>
            Go to webhooks
          </Link>
        </div>
      </Notice>
      <FormError message={open.errorBeside()} />
    </div>
  );
}
