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
import { keepSecret } from "./keep-secret.ts";
import { createWrongValue } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemParts } from "./system-parts.ts";
import { withDatabase } from "./with-database.ts";

const endpointsShownMax = 1000;
const deliveriesShownMax = 50;

const inboxCommand: Command = {
  name: "webhook inbox",
  summary: "Opens an account's event inbox: its owner reads the events, so that dramas need no other webhook.",
  options: {
    account: { placeholder: "account id", explains: "The account whose owner reads them.", isRequired: true },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const account = await getAccount(database, options.account);
      await openEventInbox(database, account.id, systemParts.clock.now());
      return { json: { account: account.id, inbox: "open" }, text: `The event inbox of ${account.id} is open.` };
    }),
};

async function getAccount(database: Database, accountId = "") {
  const account = await findAccount(database, accountId);
  if (account === null) throw new AppError("not_found", `There is no account ${accountId}.`);
  return account;
}

const createCommand: Command = {
  name: "webhook create",
  summary: "Creates a webhook endpoint of an account and shows its secret, this once.",
  options: {
    account: { placeholder: "account id", explains: "The account whose events it hears of.", isRequired: true },
    url: { placeholder: "address", explains: "Where events are sent.", isRequired: true },
    events: { placeholder: "types", explains: "The only events it hears of, with commas between; without it: all." },
    description: { placeholder: "text", explains: "What it is for." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const account = await getAccount(database, options.account);
      const masterKey = await openMasterKey(settings, systemParts.randomBytes);
      const { endpoint, secret } = await createEndpoint(
        {
          ...systemParts,
          database,
          secretBox: createSecretBox(masterKey, systemParts.randomBytes),
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
        ? `${secret}\nKeep it now: it is not shown again.`
        : `Its secret is in ${keepSecret(settings.data_dir, endpoint.id, secret)}, because this is not a terminal.`;
      return { json: null, text: `Created ${endpoint.id} for ${endpoint.accountId}.\n\n${place}` };
    }),
};

const listCommand: Command = {
  name: "webhook list",
  summary: "Lists webhook endpoints, of all accounts or of one.",
  options: { account: { placeholder: "account id", explains: "Only the endpoints of this account." } },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const endpoints = await listEndpoints(database, {
        ...(options.account === undefined ? {} : { accountId: options.account as AccountId }),
        limit: endpointsShownMax,
      });
      return {
        json: endpoints.map(presentEndpointJson),
        text: endpoints.length === 0 ? "There are no webhook endpoints." : presentEndpointRows(endpoints),
      };
    }),
};

const deliveriesCommand: Command = {
  name: "webhook deliveries",
  summary: `Lists the newest ${deliveriesShownMax} deliveries, with what came of their attempts.`,
  options: {
    account: { placeholder: "account id", explains: "Only those of this account." },
    endpoint: { placeholder: "endpoint id", explains: "Only those to this endpoint." },
    event: { placeholder: "event id", explains: "Only those of this event." },
    state: { placeholder: "word", explains: `Only those that are ${deliveryStates.join(", ")}.` },
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
        text: deliveries.length === 0 ? "There are no such deliveries." : presentDeliveryRows(deliveries),
      };
    }),
};

const resendCommand: Command = {
  name: "webhook resend",
  summary: "Sends an event again, to all its receivers or to one endpoint.",
  positionals: ["event id"],
  options: { endpoint: { placeholder: "endpoint id", explains: "Only to this endpoint of the same account." } },
  run: ({ positionals: [eventId = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const accountId = await findEventOwner(database, eventId);
      if (accountId === null) throw new AppError("not_found", `There is no event ${eventId}.`);
      await resendEvent({ ...systemParts, database }, { accountId, eventId, endpointId: options.endpoint ?? null });
      const deliveries = await listDeliveries(database, { eventId, state: "pending", limit: deliveriesShownMax });
      return {
        json: deliveries.map(presentDeliveryJson),
        text: `${eventId} is on its way again. \`webhook deliveries --event ${eventId}\` tells what comes of it.`,
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
    if (type === undefined) throw createWrongValue("events", `some of ${eventTypeNames.join(", ")}`);
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
