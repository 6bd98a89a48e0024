import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { Endpoint } from "../../api/ask-webhooks.ts";
import { api, ask } from "../../api/console-api.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { Button } from "../../design/button.tsx";
import { CodeSamples } from "../../design/code-block.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { PageSection } from "../../design/page-section.tsx";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { AccountSecretSection } from "./account-secret-section.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { EventList } from "./event-list.tsx";
import { InboxSection } from "./inbox-section.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { verifySamples } from "./verify-samples.ts";
import { WebhookEndpointTable } from "./webhook-endpoint-table.tsx";

const route = getRouteApi("/signed-in/console/console/webhooks");

export function WebhooksPage() {
  const navigate = route.useNavigate();
  const create = (
    <Button look="primary" onClick={() => void navigate({ search: { add: "1" } })}>
      <Icon name="plus" />
      Create endpoint
    </Button>
  );
  return (
    <ConsoleFrame title="Webhooks" intro="Signed events, retried for three days." actions={create}>
      <div className="flex flex-col gap-12">
        <WebhookEndpointTable
          empty={
            <EmptyState title="No endpoints yet" action={create}>
              An endpoint is a URL of yours that receives a POST when a task ends, so that you need not poll.
            </EmptyState>
          }
        />
        <PageSection title="Recent events" intro="All events of the last 30 days, delivered or not.">
          <EventList />
        </PageSection>
        <InboxSection />
        <AccountSecretSection />
        <PageSection
          title="Verify signatures"
          intro="Anyone can send requests to your endpoint. Signatures follow Standard Webhooks: verify them with its libraries, or with this code."
        >
          <CodeSamples label="Verify signatures" samples={verifySamples} />
        </PageSection>
      </div>
      <NewEndpoint />
    </ConsoleFrame>
  );
}

/** The open form is in the address, so that it survives signing in again. */
function NewEndpoint() {
  const { add } = route.useSearch();
  const navigate = route.useNavigate();
  const answers = useAnswerCache();
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
