import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { AppError } from "../../../platform/errors/app-error.ts";

const id = Type.String({ minLength: 1, maxLength: 200, pattern: "^[!-~]+$" });
const money = { amount: Type.String({ maxLength: 32 }), currency: Type.String({ pattern: "^[A-Z]{3}$" }) };

/** Strict: a misspelled field must not book money. */
const knownSchemas = {
  "payment.succeeded": Type.Object(
    {
      type: Type.Literal("payment.succeeded"),
      data: Type.Object({ payment_id: id, account_id: id, ...money }, { additionalProperties: false }),
    },
    { additionalProperties: false },
  ),
  "payment.refunded": Type.Object(
    {
      type: Type.Literal("payment.refunded"),
      data: Type.Object({ payment_id: id, refund_id: id, ...money }, { additionalProperties: false }),
    },
    { additionalProperties: false },
  ),
} as const;

export type PaymentEvent = Static<(typeof knownSchemas)[keyof typeof knownSchemas]>;

/** `null` for another type of event, which is acknowledged and ignored. */
export function parsePaymentEvent(body: Buffer): PaymentEvent | null {
  const event = parseJson(body);
  const type = typeof event === "object" && event !== null && "type" in event ? event.type : null;
  if (typeof type !== "string") {
    throw new AppError("invalid_parameter", "`type` must be a text, such as payment.succeeded.", { param: "type" });
  }
  if (type !== "payment.succeeded" && type !== "payment.refunded") return null;
  const schema = knownSchemas[type];
  if (Value.Check(schema, event)) return event as PaymentEvent;
  const [fault] = Value.Errors(schema, event);
  const param = fault?.instancePath.slice(1).replaceAll("/", ".") || "data";
  throw new AppError("invalid_parameter", `\`${param}\` is missing, unknown or malformed.`, { param });
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (cause) {
    throw new AppError("invalid_json", "The body is not JSON.", { cause });
  }
}
