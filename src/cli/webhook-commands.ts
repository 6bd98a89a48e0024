import { findAccount } from "../features/accounts/index.ts";
import {
  createEndpoint,
  createSecretBox,
  type Delivery,
  deliveryStates,
  eventTypeNames,
  findEventOwner,
  listDeliveries,
  listEndpoints,
  openEventInbox,
  resendEvent,
  type WebhookEndpoint,
} from "../features/webhooks/index.ts";
import type { AccountId } from "../lib/ids.ts";
import { openMasterKey } from "../platform/config/master-key.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command } from "./command.ts";
import { createWrongValue } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { saveSecret } from "./save-secret.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const endpointsShownMax = 1000;
const deliveriesShownMax = 50;

const inboxCommand: Command = {
  name: "webhook inbox",
  summary: "Open an account's event inbox, so that dramas need no webhook endpoint.",
  options: {
    account: { placeholder: "account id", description: "The account.", isRequired: true },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const account = await getAccount(database, options.account);
      await openEventInbox(database, account.id, systemDependencies.clock.now());
      return { json: { account: account.id, inbox: "open" }, text: `Opened the event inbox of ${account.id}.` };
    }),
};

async function getAccount(database: Database, accountId = "") {
  const account = await findAccount(database, accountId);
  if (account === null)
    throw new AppError("not_found", `There is no account ${accountId}. List them: npm run -s sluice -- account list`);
  return account;
}

const createCommand: Command = {
  name: "webhook create",
  summary: "Create a webhook endpoint for an account. Its secret is shown once.",
  options: {
    account: { placeholder: "account id", description: "The account whose events it receives.", isRequired: true },
    url: { placeholder: "address", description: "The URL to send events to.", isRequired: true },
    events: { placeholder: "types", description: "Event types, comma-separated. Default: all." },
    description: { placeholder: "text", description: "A description." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const account = await getAccount(database, options.account);
      const masterKey = await openMasterKey(settings, systemDependencies.randomBytes);
      const { endpoint, secret } = await createEndpoint(
        {
          ...systemDependencies,
          database,
          secretBox: createSecretBox(masterKey, systemDependencies.randomBytes),
          allowsPrivate: settings.sandbox === "on",
        },
        {
          accountId: account.id,
          url: options.url ?? "",
          description: options.description ?? "",
          eventTypes: readEventTypes(options.events),
        },
      );
      if (terminal.isJson) return { json: { ...presentEndpointJson(endpoint), secret }, text: "" };
      const place = terminal.isTerminal
        ? `${secret}\nSave it now: it is not shown again.`
        : `Saved its secret to ${saveSecret(settings.data_dir, endpoint.id, secret)} (standard output is not a terminal).`;
      return { json: null, text: `Created ${endpoint.id} for ${endpoint.accountId}.\n\n${place}` };
    }),
};

const listCommand: Command = {
  name: "webhook list",
  summary: "List webhook endpoints of all accounts or one.",
  options: { account: { placeholder: "account id", description: "Only endpoints of this account." } },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const endpoints = await listEndpoints(database, {
        ...(options.account === undefined ? {} : { accountId: options.account as AccountId }),
        limit: endpointsShownMax,
      });
      return {
        json: endpoints.map(presentEndpointJson),
        text: endpoints.length === 0 ? "No webhook endpoints." : presentEndpointRows(endpoints),
      };
    }),
};

const deliveriesCommand: Command = {
  name: "webhook deliveries",
  summary: `List the newest ${deliveriesShownMax} deliveries and their attempts.`,
  options: {
    account: { placeholder: "account id", description: "Only deliveries of this account." },
    endpoint: { placeholder: "endpoint id", description: "Only deliveries to this endpoint." },
    event: { placeholder: "event id", description: "Only deliveries of this event." },
    state: { placeholder: "word", description: `Only deliveries with this state: ${deliveryStates.join(", ")}.` },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const state = deliveryStates.find((word) => word === options.state);
      if (options.state !== undefined && state === undefined) {
        throw createWrongValue("state", `one of ${deliveryStates.join(", ")}`);
      }
      const deliveries = await listDeliveries(database, {
        ...(options.account === undefined ? {} : { accountId: options.account as AccountId }),
        ...(options.endpoint === undefined ? {} : { endpointId: options.endpoint }),
        ...(options.event === undefined ? {} : { eventId: options.event }),
        ...(state === undefined ? {} : { state }),
        limit: deliveriesShownMax,
      });
      return {
        json: deliveries.map(presentDeliveryJson),
        text: deliveries.length === 0 ? "No deliveries." : presentDeliveryRows(deliveries),
      };
    }),
};

const resendCommand: Command = {
  name: "webhook resend",
  summary: "Resend an event to all its endpoints or one.",
  positionals: ["event id"],
  options: { endpoint: { placeholder: "endpoint id", description: "Only to this endpoint of the same account." } },
  run: ({ positionals: [eventId = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const accountId = await findEventOwner(database, eventId);
      if (accountId === null)
        throw new AppError(
          "not_found",
          `There is no event ${eventId}. List deliveries: npm run -s sluice -- webhook deliveries`,
        );
      await resendEvent(
        { ...systemDependencies, database },
        { accountId, eventId, endpointId: options.endpoint ?? null },
      );
      const deliveries = await listDeliveries(database, { eventId, state: "pending", limit: deliveriesShownMax });
      return {
        json: deliveries.map(presentDeliveryJson),
        text: `Queued ${eventId} again. See: npm run -s sluice -- webhook deliveries --event ${eventId}`,
      };
    }),
};

export const webhookCommands: readonly Command[] = [
  createCommand,
  listCommand,
  deliveriesCommand,
  resendCommand,
  inboxCommand,
];

function readEventTypes(text: string | undefined) {
  if (text === undefined) return [];
  return text.split(",").map((word) => {
    const type = eventTypeNames.find((name) => name === word.trim());
    if (type === undefined) throw createWrongValue("events", `a comma-separated list of ${eventTypeNames.join(", ")}`);
    return type;
  });
}

function presentEndpointRows(endpoints: readonly WebhookEndpoint[]): string {
  const rows = endpoints.map((endpoint) => [
    endpoint.id,
    endpoint.accountId,
    endpoint.url,
    endpoint.eventTypes.length === 0 ? "all" : endpoint.eventTypes.join(", "),
    presentState(endpoint),
  ]);
  return presentRows(["ID", "ACCOUNT", "URL", "EVENTS", "STATE"], rows);
}

function presentState({ disabled, failingSince }: WebhookEndpoint): string {
  if (disabled !== null) return `disabled (${disabled.reason}) ${disabled.at.toISOString()}`;
  return failingSince === null ? "enabled" : `failing since ${failingSince.toISOString()}`;
}

function presentEndpointJson(endpoint: WebhookEndpoint): Record<string, unknown> {
  return {
    id: endpoint.id,
    account_id: endpoint.accountId,
    url: endpoint.url,
    description: endpoint.description,
    event_types: endpoint.eventTypes,
    enabled: endpoint.disabled === null,
    disabled_at: endpoint.disabled?.at.toISOString() ?? null,
    disabled_reason: endpoint.disabled?.reason ?? null,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    created_at: endpoint.createdAt.toISOString(),
  };
}

function presentDeliveryRows(deliveries: readonly Delivery[]): string {
  const rows = deliveries.map((delivery) => {
    const last = delivery.attempts.at(-1);
    return [
      delivery.id,
      delivery.eventId,
      delivery.endpointId ?? "callback",
      delivery.url,
      delivery.state,
      String(delivery.attemptCount),
      last === undefined ? "-" : String(last.status ?? last.error),
      delivery.nextAttemptAt?.toISOString() ?? "-",
    ];
  });
  return presentRows(["ID", "EVENT", "ENDPOINT", "URL", "STATE", "ATTEMPTS", "LAST", "NEXT"], rows);
}

function presentDeliveryJson(delivery: Delivery): Record<string, unknown> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    account_id: delivery.accountId,
    endpoint_id: delivery.endpointId,
    url: delivery.url,
    state: delivery.state,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    attempts: delivery.attempts.map(({ number, attemptedAt, durationMs, status, error, answer }) => ({
      number,
      attempted_at: attemptedAt.toISOString(),
      duration_ms: durationMs,
      status,
      error,
      answer,
    })),
  };
}
