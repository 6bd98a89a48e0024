import { Link } from "@tanstack/react-router";
import { api, ask } from "../../api/console-api.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { Notice } from "../../design/notice.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";

/** Dramas require a webhook. Opening the event inbox is the shortest way. */
export function WebhookNeeded({ onOpened }: { onOpened(): void }) {
  const open = useAction(() => ask(api.POST("/event_inbox", { body: {} })), onOpened);
  return (
    <div className="flex flex-col gap-3">
      <Notice kind="warning" title="Dramas need a webhook endpoint or the event inbox">
        <p>
          Dramas take a while. Add a webhook endpoint, or open the event inbox to read events in the console or through
          the API. Your input is kept.
        </p>
        <div className="mt-3 flex flex-wrap gap-x-4 gap-y-2">
          <Button onClick={() => open.run(undefined)} isBusy={open.isBusy}>
            Open the event inbox and continue
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
