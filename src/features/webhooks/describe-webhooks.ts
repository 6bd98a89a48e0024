import { type TSchema, Type } from "typebox";
import { eventTypeNames, eventTypes } from "./webhook-event.ts";

const signatureHeaders = {
  "webhook-id": { pattern: "^evt_[0-9a-z]+$", description: "The event's `id`, the same on every attempt." },
  "webhook-timestamp": { pattern: "^\\d+$", description: "The time of this attempt, as Unix time in seconds." },
  "webhook-signature": {
    pattern: "^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)*$",
    description:
      "`v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`. During a secret rotation there are two; accept the event if one matches.",
  },
} as const;

/** The webhooks section of the reference. The feature that records events supplies their data schema. */
export function describeWebhooks(data: TSchema): Record<string, object> {
  const parameters = Object.entries(signatureHeaders).map(([name, { description, pattern }]) => ({
    in: "header",
    name,
    required: true,
    description,
    schema: { type: "string", pattern },
  }));
  return Object.fromEntries(
    eventTypeNames.map((type) => {
      const body = Type.Object({
        id: Type.String({ pattern: "^evt_[0-9a-z]+$" }),
        type: Type.Literal(type),
        created: Type.Integer({ description: "Unix time in seconds." }),
        data,
      });
      const post = {
        summary: type,
        description: `${eventTypes[type]} Signed according to Standard Webhooks, and retried until you return a 2xx.`,
        tags: ["Webhooks"],
        parameters,
        requestBody: { required: true, content: { "application/json": { schema: body } } },
        responses: {
          "2XX": { description: "The event is delivered." },
          410: { description: "Disables the endpoint." },
        },
        security: [],
      };
      return [type, { post }];
    }),
  );
}
