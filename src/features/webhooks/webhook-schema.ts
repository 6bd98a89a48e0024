import { type Static, type TSchema, Type } from "typebox";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { optionalBody } from "../../platform/http/optional-body.ts";
import type { AccountSecret } from "./account-secret.ts";
import { attemptErrors, type Delivery, deliveryStates } from "./delivery.ts";
import { descriptionCharactersMax, urlCharactersMax, type WebhookEndpoint } from "./webhook-endpoint.ts";
import { eventTypeNames, type PresentData, presentEvent, testEventType, type WebhookEvent } from "./webhook-event.ts";

const time = (description: string) => Type.String({ format: "date-time", description });
const secret = Type.String({ description: "The signing secret. Store it: an endpoint's secret is shown only once." });

const urlSchema = Type.String({ description: "A public HTTPS URL, up to 2048 characters." });
const descriptionSchema = Type.String({ maxLength: descriptionCharactersMax, description: "A note for yourself." });
const eventTypesSchema = Type.Array(Type.Enum([...eventTypeNames]), {
  maxItems: eventTypeNames.length,
  description: "The event types to send; empty for all.",
});

export const endpointSchema = Type.Object({
  object: Type.Literal("webhook_endpoint"),
  id: Type.String({ examples: ["whe_01kh2n8v7m3q5x9d4c6b8a0e2f"] }),
  url: Type.String({ maxLength: urlCharactersMax }),
  description: Type.Optional(Type.String()),
  event_types: Type.Array(Type.String(), { description: "Empty for all." }),
  enabled: Type.Boolean(),
  disabled_at: Type.Optional(time("When it was disabled.")),
  disabled_reason: Type.Optional(
    Type.Enum(["owner", "gone", "failing"], {
      description: "Disabled by its owner, by answering 410, or after five days without a success.",
    }),
  ),
  failing_since: Type.Optional(time("The first failure since the last success.")),
  previous_secret_expires_at: Type.Optional(time("Until when the previous secret signs too.")),
  created: Type.Integer({ description: "Unix time in seconds." }),
  secret: Type.Optional(secret),
});

export const newEndpointSchema = Type.Object(
  {
    url: urlSchema,
    description: Type.Optional(descriptionSchema),
    event_types: Type.Optional(eventTypesSchema),
  },
  { additionalProperties: false },
);

export const endpointChangesSchema = Type.Object(
  {
    url: Type.Optional(urlSchema),
    description: Type.Optional(descriptionSchema),
    event_types: Type.Optional(eventTypesSchema),
    enabled: Type.Optional(Type.Boolean({ description: "`true` enables the endpoint, whatever disabled it." })),
  },
  { additionalProperties: false, minProperties: 1 },
);

export const deletedEndpointSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal("webhook_endpoint"),
  deleted: Type.Literal(true),
});

export const accountSecretSchema = Type.Object({
  object: Type.Literal("webhook_secret"),
  secret,
  previous_secret_expires_at: Type.Optional(time("Until when the previous secret signs too.")),
});

export const eventSchema = Type.Object({
  object: Type.Literal("event"),
  id: Type.String({ examples: ["evt_01kh2n8v7m3q5x9d4c6b8a0e2f"], description: "The same on every attempt." }),
  type: Type.Enum([...eventTypeNames, testEventType]),
  created: Type.Integer({ description: "Unix time in seconds." }),
  data: Type.Object({}, { additionalProperties: true, description: "The task as it ended, with newly signed links." }),
});

export const deliverySchema = Type.Object({
  object: Type.Literal("delivery"),
  id: Type.String({ examples: ["dlv_01kh2n8v7m3q5x9d4c6b8a0e2f"] }),
  event_id: Type.String(),
  event_type: Type.Enum([...eventTypeNames, testEventType]),
  webhook_endpoint_id: Type.Optional(Type.String({ description: "Absent for a task's `callback_url`." })),
  url: Type.String(),
  status: Type.Enum([...deliveryStates], {
    description: "`failed` if all retries failed; `dropped` if the endpoint was deleted or disabled first.",
  }),
  next_attempt_at: Type.Optional(time("Absent during an attempt, and at the end.")),
  created: Type.Integer({ description: "Unix time in seconds." }),
  attempts: Type.Array(
    Type.Object({
      number: Type.Integer({ minimum: 1 }),
      attempted_at: Type.String({ format: "date-time" }),
      duration_ms: Type.Integer({ minimum: 0 }),
      status: Type.Optional(Type.Integer({ description: "The status of the receiver's response." })),
      error: Type.Optional(Type.Enum([...attemptErrors], { description: "Absent on success." })),
      answer: Type.Optional(Type.String({ description: "The first 1024 bytes of the receiver's response." })),
    }),
  ),
});

export const resendSchema = optionalBody(
  Type.Object(
    { webhook_endpoint_id: Type.Optional(Type.String({ description: "Sends to this endpoint only." })) },
    { additionalProperties: false },
  ),
);

/** Error codes of a body that may be absent. */
export const optionalBodyErrors = [
  "invalid_json",
  "invalid_parameter",
  "unknown_parameter",
  "payload_too_large",
  "unsupported_media_type",
] as const satisfies readonly ErrorCode[];

export const listQuerySchema = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
    after: Type.Optional(Type.String({ pattern: "^[a-z]{3}_[0-9a-z]{1,64}$", description: "A `next_cursor`." })),
  },
  { additionalProperties: false },
);

export const deliveryQuerySchema = Type.Object(
  { ...listQuerySchema.properties, status: Type.Optional(Type.Enum([...deliveryStates])) },
  { additionalProperties: false },
);

export const eventQuerySchema = Type.Object(
  {
    ...listQuerySchema.properties,
    type: Type.Optional(Type.Enum([...eventTypeNames, testEventType])),
    task_id: Type.Optional(
      Type.String({ pattern: "^task_[0-9a-z]{1,64}$", description: "Only events about this task." }),
    ),
  },
  { additionalProperties: false },
);

export function createListSchema<T extends TSchema>(item: T) {
  return Type.Object({
    object: Type.Literal("list"),
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()], { description: "Send it as `after` to get the next page." }),
  });
}

/** Presents a page; `items` has one more than `limit` if there is a next page. */
export function presentList<T extends { id: string }, P>(
  items: readonly T[],
  limit: number,
  present: (item: T) => P,
): { object: "list"; data: P[]; has_more: boolean; next_cursor: string | null } {
  const hasMore = items.length > limit;
  const page = items.slice(0, limit);
  const next_cursor = hasMore ? (page.at(-1)?.id ?? null) : null;
  return { object: "list", data: page.map(present), has_more: hasMore, next_cursor };
}

export function presentEndpoint(endpoint: WebhookEndpoint, now: Date): Static<typeof endpointSchema> {
  const { disabled, failingSince, previousSecretUntil } = endpoint;
  return {
    object: "webhook_endpoint",
    id: endpoint.id,
    url: endpoint.url,
    ...(endpoint.description === "" ? {} : { description: endpoint.description }),
    event_types: [...endpoint.eventTypes],
    enabled: disabled === null,
    ...(disabled === null ? {} : { disabled_at: disabled.at.toISOString(), disabled_reason: disabled.reason }),
    ...(failingSince === null ? {} : { failing_since: failingSince.toISOString() }),
    ...presentOverlap(previousSecretUntil, now),
    created: toSeconds(endpoint.createdAt),
  };
}

function presentOverlap(until: Date | null, now: Date): { previous_secret_expires_at?: string } {
  return until === null || until <= now ? {} : { previous_secret_expires_at: until.toISOString() };
}

export function presentAccountSecret(
  { text, previousUntil }: AccountSecret,
  now: Date,
): Static<typeof accountSecretSchema> {
  return { object: "webhook_secret", secret: text, ...presentOverlap(previousUntil, now) };
}

export function presentListedEvent(
  event: WebhookEvent,
  presentData: PresentData,
  now: Date,
): Static<typeof eventSchema> {
  return { object: "event", ...presentEvent(event, presentData, now), type: event.type };
}

export function presentDelivery(delivery: Delivery): Static<typeof deliverySchema> {
  const { endpointId, nextAttemptAt } = delivery;
  return {
    object: "delivery",
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    ...(endpointId === null ? {} : { webhook_endpoint_id: endpointId }),
    url: delivery.url,
    status: delivery.state,
    ...(nextAttemptAt === null ? {} : { next_attempt_at: nextAttemptAt.toISOString() }),
    created: toSeconds(delivery.createdAt),
    attempts: delivery.attempts.map(({ number, attemptedAt, durationMs, status, error, answer }) => ({
      number,
      attempted_at: attemptedAt.toISOString(),
      duration_ms: durationMs,
      ...(status === null ? {} : { status }),
      ...(error === null ? {} : { error }),
      ...(answer === null || answer === "" ? {} : { answer }),
    })),
  };
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
