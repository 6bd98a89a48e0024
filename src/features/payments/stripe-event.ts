import type { ReversalKind, StripeReversal } from "./reversal.ts";

/** Refund and dispute events that the sweep lists. */
export const reversalEvents = [
  "refund.created",
  "refund.updated",
  "refund.failed",
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
  "charge.dispute.funds_withdrawn",
  "charge.dispute.funds_reinstated",
] as const;

/** The state of a checkout's payment, from an event or a poll. */
export type StripeSession = {
  /** `null` for the charge of a saved card, which has no session. */
  sessionId: string | null;
  /** From the metadata that we set; `null` if another program created the session. */
  checkoutId: string | null;
  accountId: string | null;
  amountMinor: bigint | null;
  /** In upper case, as in the ledger. */
  currency: string | null;
  paymentId: string | null;
  outcome: "open" | "processing" | "paid" | "failed" | "expired";
  /** Stripe's code of a failure. */
  note: string | null;
  /** The attempt of a payment; `null` if there was none. */
  chargeId?: string | null;
};

export type StripeEvent =
  | { kind: "session"; session: StripeSession }
  | { kind: "reversal"; reversal: StripeReversal }
  | { kind: "refunded"; paymentId: string }
  | { kind: "other"; type: string };

type Fields = Readonly<Record<string, unknown>>;

/** Reads only the fields that we act on: the others differ between versions of Stripe's API. */
export function readStripeEvent(event: unknown): StripeEvent {
  const { type, data } = toFields(event);
  const subject = toFields(toFields(data).object);
  const other: StripeEvent = { kind: "other", type: readText(type) ?? "" };
  switch (type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return readSessionEvent(subject, subject.payment_status === "paid" ? "paid" : "processing") ?? other;
    case "checkout.session.async_payment_failed":
      return readSessionEvent(subject, "failed") ?? other;
    case "checkout.session.expired":
      return readSessionEvent(subject, "expired") ?? other;
    case "payment_intent.succeeded":
    case "payment_intent.processing":
    case "payment_intent.payment_failed":
    case "payment_intent.canceled": {
      const payment = readPayment(subject);
      return payment === null ? other : { kind: "session", session: payment };
    }
    case "charge.refunded": {
      const paymentId = readId(subject.payment_intent);
      return paymentId === null ? other : { kind: "refunded", paymentId };
    }
    case "refund.created":
    case "refund.updated":
    case "refund.failed":
    case "charge.refund.updated":
      return readReversalEvent(subject, "refund") ?? other;
    case "charge.dispute.created":
    case "charge.dispute.updated":
    case "charge.dispute.closed":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.funds_reinstated":
      return readReversalEvent(subject, "dispute") ?? other;
    default:
      return other;
  }
}

/** Reads a session that was retrieved with its payment intent expanded; `null` if the value is no session. */
export function readSession(session: unknown): StripeSession | null {
  const fields = toFields(session);
  return readSessionFields(fields, decideOutcome(fields));
}

function decideOutcome({ status, payment_status: paymentStatus, payment_intent: payment }: Fields) {
  if (paymentStatus === "paid") return "paid";
  if (status === "expired") return "expired";
  if (status !== "complete") return "open";
  // A delayed payment that failed waits for another payment method, but the customer has left the page.
  const state = toFields(payment).status;
  return state === "requires_payment_method" || state === "canceled" ? "failed" : "processing";
}

function readReversalEvent(subject: Fields, kind: ReversalKind): StripeEvent | null {
  const reversal = readReversal(subject, kind);
  return reversal === null ? null : { kind: "reversal", reversal };
}

/** `null` if the refund or dispute belongs to no payment intent. */
export function readReversal(subject: unknown, kind: ReversalKind): StripeReversal | null {
  const { id, status, amount, currency, reason, payment_intent: payment } = toFields(subject);
  const [name, word, paymentId, amountMinor] = [readText(id), readText(status), readId(payment), readWhole(amount)];
  if (name === null || word === null || paymentId === null || amountMinor === null) return null;
  const currencyCode = readText(currency)?.toUpperCase() ?? null;
  return { id: name, kind, status: word, amountMinor, reason: readText(reason), paymentId, currency: currencyCode };
}

/** Reads a payment intent, as the charge of a saved card. */
export function readPayment(payment: unknown): StripeSession | null {
  const fields = toFields(payment);
  const paymentId = readText(fields.id);
  if (paymentId === null) return null;
  const metadata = toFields(fields.metadata);
  const fault = toFields(fields.last_payment_error);
  const outcome = decidePaymentOutcome(fields.status, readText(fault.type) !== null);
  return {
    sessionId: null,
    checkoutId: readText(metadata.checkout),
    accountId: readText(metadata.account),
    amountMinor: readWhole(outcome === "paid" ? fields.amount_received : fields.amount),
    currency: readText(fields.currency)?.toUpperCase() ?? null,
    paymentId,
    outcome,
    note: readText(fault.decline_code) ?? readText(fault.code),
    chargeId: readId(fields.latest_charge),
  };
}

function decidePaymentOutcome(status: unknown, hasFault: boolean): StripeSession["outcome"] {
  if (status === "succeeded") return "paid";
  if (status === "processing") return "processing";
  // Without a fault, Stripe has not tried the card yet.
  return hasFault || status === "requires_action" || status === "canceled" ? "failed" : "open";
}

/** A card that may be charged later. */
export type StripeCard = {
  customerId: string;
  cardId: string;
  brand: string;
  last4: string;
  expMonth: number;
  expYear: number;
};

/** Reads the card of a payment intent that was retrieved with its payment method; `null` if it was not a saved card. */
export function readCard(payment: unknown): StripeCard | null {
  const { customer, payment_method: method } = toFields(payment);
  const { id, card } = toFields(method);
  const { brand, last4, exp_month: month, exp_year: year } = toFields(card);
  const [customerId, cardId, digits] = [readId(customer), readText(id), readText(last4)];
  if (customerId === null || cardId === null || digits === null) return null;
  const [expMonth, expYear] = [Number(readWhole(month) ?? 0n), Number(readWhole(year) ?? 0n)];
  return { customerId, cardId, brand: readText(brand) ?? "card", last4: digits, expMonth, expYear };
}

/** The checkout id from the metadata that we set when the session was created. */
export function readPaymentCheckout(payment: unknown): string | null {
  return readText(toFields(toFields(payment).metadata).checkout);
}

function readSessionEvent(session: Fields, outcome: StripeSession["outcome"]): StripeEvent | null {
  const read = readSessionFields(session, outcome);
  return read === null ? null : { kind: "session", session: read };
}

function readSessionFields(session: Fields, outcome: StripeSession["outcome"]): StripeSession | null {
  const sessionId = readText(session.id);
  if (sessionId === null) return null;
  const metadata = toFields(session.metadata);
  return {
    sessionId,
    checkoutId: readText(metadata.checkout),
    accountId: readText(metadata.account),
    amountMinor: readWhole(session.amount_total),
    currency: readText(session.currency)?.toUpperCase() ?? null,
    paymentId: readId(session.payment_intent),
    outcome,
    note: null,
  };
}

/** Stripe sends a related object as its id, or expanded. */
function readId(value: unknown): string | null {
  return readText(value) ?? readText(toFields(value).id);
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value.length <= 255 ? value : null;
}

function readWhole(value: unknown): bigint | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
