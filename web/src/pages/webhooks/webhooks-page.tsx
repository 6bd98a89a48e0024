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
import { ConsoleFrame } from "../../parts/console-frame.tsx";
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
      Add an endpoint
    </Button>
  );
  return (
    <ConsoleFrame
      title="Webhooks"
      intro="When a task ends, we tell your servers: signed, and again until they hear, for up to three days."
      actions={create}
    >
      <div className="flex flex-col gap-12">
        <WebhookEndpointTable
          empty={
            <EmptyState title="You have no endpoint yet." action={create}>
              An endpoint is an address of yours that gets a POST whenever a task has ended, so that you need not ask.
            </EmptyState>
          }
        />
        <PageSection
          title="Recent events"
          intro="Everything of the last 30 days, whether anybody was told of it or not."
        >
          <EventList />
        </PageSection>
        <InboxSection />
        <AccountSecretSection />
        <PageSection
          title="Check that an event is ours"
          intro="Anybody can send something to your address. The signature is that of Standard Webhooks: the library of that name can check it, or these few lines."
        >
          <CodeSamples label="Check a signature" samples={verifySamples} />
        </PageSection>
      </div>
      <NewEndpoint />
    </ConsoleFrame>
  );
}

/** That the form is open is in the address, so that whoever has to sign in again comes back to it. */
function NewEndpoint() {
  const { add } = route.useSearch();
  const navigate = route.useNavigate();
  const answers = useAnswerCache();
  const [made, setMade] = useState<Endpoint | null>(null);
  const close = () => void navigate({ search: {} });
  if (made?.secret !== undefined) {
    return (
      <SecretDialog
        title="Keep the endpoint’s secret now"
        secret={made.secret}
        isShownOnce
        previousUntil={undefined}
        onClose={() => void navigate({ to: "/console/webhooks/$id", params: { id: made.id } })}
      />
    );
  }
  if (add === undefined) return null;
  return (
    <Dialog title="Add an endpoint" size="wide" onClose={close}>
      <EndpointForm
        endpoint={null}
        submitName="Add the endpoint"
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
