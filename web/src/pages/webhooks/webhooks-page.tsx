import { getRouteApi } from "@tanstack/react-router";
import { Button } from "../../design/button.tsx";
import { CodeSamples } from "../../design/code-block.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { PageSection } from "../../design/page-section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { InboxSection } from "./inbox-section.tsx";
import { verifySamples } from "./verify-samples.ts";
import { WebhookEndpointTable } from "./webhook-endpoint-table.tsx";

const route = getRouteApi("/signed-in/console/console/webhooks");
const EventList = lazyPart(async () => (await import("./event-list.tsx")).EventList, <Skeleton className="h-64" />);
const AccountSecretSection = lazyPart(
  async () => (await import("./account-secret-section.tsx")).AccountSecretSection,
  <Skeleton className="h-32" />,
);
const NewEndpoint = lazyPart(async () => (await import("./new-endpoint.tsx")).NewEndpoint);

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
              An endpoint is your URL that receives a POST when a task ends, so you need not poll.
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
