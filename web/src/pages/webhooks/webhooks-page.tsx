import { getRouteApi } from "@tanstack/react-router";
import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { CodeSamples } from "../../design/code-block.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { PageSection } from "../../design/page-section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useSession } from "../../parts/session/use-session.ts";
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

/** For accounts without a receiver, which poll their events. */
function InboxSection() {
  const { time_zone: timeZone } = useSession().account;
  const answers = useQueryCache();
  const inbox = useTableQuery(queryTable.inbox.now());
  const change = useAction(
    (isOpen: boolean) => ask(isOpen ? api.POST("/event_inbox", { body: {} }) : api.DELETE("/event_inbox")),
    () => answers.refresh("inbox"),
  );
  const { data, error } = inbox;
  return (
    <PageSection
      title="Event inbox"
      intro={
        <InlineCodeText text="Dramas need a webhook endpoint or the event inbox. If you have no receiver, open the inbox and read events above or at `GET /events`." />
      }
    >
      <FormError message={change.errorBeside()} />
      {data === undefined && error === null && <Skeleton className="h-10 w-64" />}
      {data === undefined && error !== null && <LoadFailure error={error} onRetry={() => void inbox.refetch()} />}
      {data !== undefined && (
        <div className="flex min-h-10 flex-wrap items-center gap-x-4 gap-y-2 text-sm">
          <Badge kind={data.is_open ? "good" : "neutral"}>{data.is_open ? "Open" : "Closed"}</Badge>
          {data.opened_at !== null && (
            <span className="text-ink-soft">since {formatMoment(data.opened_at, timeZone)}</span>
          )}
          <Button isBusy={change.isBusy} onClick={() => change.run(!data.is_open)}>
            {data.is_open ? "Close inbox" : "Open inbox"}
          </Button>
        </div>
      )}
    </PageSection>
  );
}

const node = `import { createHmac, timingSafeEqual } from "node:crypto";

const toleranceSeconds = 300;

// \`body\` is the raw request text, before any parsing; \`secret\` is whsec_….
function readEvent(body, headers, secret) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= toleranceSeconds)) throw new Error("The event is too old or from the future.");

  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(\`\${id}.\${timestamp}.\${body}\`).digest();
  // During a secret rotation there are two signatures; one match is enough.
  const isValid = String(headers["webhook-signature"]).split(" ").some((entry) => {
    const [version, text = ""] = entry.split(",");
    const given = Buffer.from(text, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isValid) throw new Error("The signature does not match.");
  return JSON.parse(body); // The same \`id\` may be delivered again: process it once.
}
`;

const python = `import base64
import hashlib
import hmac
import json
import time

TOLERANCE_SECONDS = 300


# \`body\` is the raw request bytes, before any parsing; \`secret\` is whsec_….
def read_event(body, headers, secret):
    event_id = headers["webhook-id"]
    timestamp = headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("The event is too old or from the future.")

    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # While a secret is being rotated there are two signatures; one match is enough.
    given = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(expected, each) for each in given):
        raise ValueError("The signature does not match.")
    return json.loads(body)  # The same id may come again: process it once.
`;

/** Signature verification with the language's standard library. */
const verifySamples = [
  { id: "node", label: "Node.js", code: node },
  { id: "python", label: "Python", code: python },
] as const;
