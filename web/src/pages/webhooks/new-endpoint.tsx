import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { Endpoint } from "../../api/fetch-webhooks.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { Dialog } from "../../design/dialog.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

const route = getRouteApi("/signed-in/console/console/webhooks");

/** The open form is in the URL, so it survives a new sign-in. */
export function NewEndpoint() {
  const { add } = route.useSearch();
  const navigate = route.useNavigate();
  const answers = useQueryCache();
  const [made, setMade] = useState<Endpoint | null>(null);
  const close = () => void navigate({ search: {} });
  if (made?.secret !== undefined) {
    return (
      <SecretDialog
        title="Save the endpoint’s secret"
        secret={made.secret}
        isShownOnce
        previousUntil={undefined}
        onClose={() => void navigate({ to: "/console/webhooks/$id", params: { id: made.id } })}
      />
    );
  }
  if (add === undefined) return null;
  return (
    <Dialog title="Create a webhook endpoint" size="wide" onClose={close}>
      <EndpointForm
        endpoint={null}
        submitName="Create"
        send={(body) => ask(api.POST("/webhook_endpoints", { body }))}
        onDone={(endpoint) => {
          setMade(endpoint);
          close();
          void answers.refresh("webhooks");
        }}
        onGivenUp={close}
      />
    </Dialog>
  );
}
