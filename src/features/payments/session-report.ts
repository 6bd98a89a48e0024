import type { ReversalKind, ToldReversal } from "./reversal.ts";

/** The events that tell of refunds and disputes by their names. */
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

/** What Stripe says of a checkout's session: in an event, or when it is asked. */
export type SessionReport = {
  sessionId: string;
  /** What we wrote into the session when we made it; `null` where somebody else made it. */
  checkoutId: string | null;
  accountId: string | null;
  amountMinor: bigint | null;
  /** In capitals, as we write it. */
  currency: string | null;
  paymentId: string | null;
  outcome: "open" | "processing" | "paid" | "failed" | "expired";
};

/** What an event of Stripe's is to us. */
export type StripeNews =
  | { kind: "session"; report: SessionReport }
  | { kind: "reversal"; reversal: ToldReversal }
  | { kind: "refunded"; paymentId: string }
  | { kind: "other"; type: string };

type Fields = Readonly<Record<string, unknown>>;

/** Reads no more of an event than we act on: its other fields differ between versions of Stripe's API. */
export function readNews(event: unknown): StripeNews {
  const { type, data } = toFields(event);
  const subject = toFields(toFields(data).object);
  const other: StripeNews = { kind: "other", type: readText(type) ?? "" };
  switch (type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return readSessionNews(subject, subject.payment_status === "paid" ? "paid" : "processing") ?? other;
    case "checkout.session.async_payment_failed":
      return readSessionNews(subject, "failed") ?? other;
    case "checkout.session.expired":
      return readSessionNews(subject, "expired") ?? other;
    case "charge.refunded": {
      const paymentId = readId(subject.payment_intent);
      return paymentId === null ? other : { kind: "refunded", paymentId };
    }
    case "refund.created":
    case "refund.updated":
    case "refund.failed":
    case "charge.refund.updated":
      return readReversalNews(subject, "refund") ?? other;
    case "charge.dispute.created":
    case "charge.dispute.updated":
    case "charge.dispute.closed":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.funds_reinstated":
      return readReversalNews(subject, "dispute") ?? other;
    default:
      return other;
  }
}

/** Reads a session that was asked for together with its payment; `null` when it is none. */
export function readSession(session: unknown): SessionReport | null {
  const fields = toFields(session);
  return readReport(fields, decideOutcome(fields));
}

function decideOutcome({ status, payment_status: paymentStatus, payment_intent: payment }: Fields) {
  if (paymentStatus === "paid") return "paid";
  if (status === "expired") return "expired";
  if (status !== "complete") return "open";
  // A slow payment that came to nothing wants another card, which nobody is there to give.
  const state = toFields(payment).status;
  return state === "requires_payment_method" || state === "canceled" ? "failed" : "processing";
}

function readReversalNews(subject: Fields, kind: ReversalKind): StripeNews | null {
  const reversal = readReversal(subject, kind);
  return reversal === null ? null : { kind: "reversal", reversal };
}

/** `null` for one that is of no payment of Checkout's. */
export function readReversal(subject: unknown, kind: ReversalKind): ToldReversal | null {
  const { id, status, amount, currency, reason, payment_intent: payment } = toFields(subject);
  const [name, word, paymentId, amountMinor] = [readText(id), readText(status), readId(payment), readWhole(amount)];
  if (name === null || word === null || paymentId === null || amountMinor === null) return null;
  const currencyCode = readText(currency)?.toUpperCase() ?? null;
  return { id: name, kind, status: word, amountMinor, reason: readText(reason), paymentId, currency: currencyCode };
}

/** The checkout that we wrote into a payment when its session was made. */
export function readPaymentCheckout(payment: unknown): string | null {
  return readText(toFields(toFields(payment).metadata).checkout);
}

function readSessionNews(session: Fields, outcome: SessionReport["outcome"]): StripeNews | null {
  const report = readReport(session, outcome);
  return report === null ? null : { kind: "session", report };
}

function readReport(session: Fields, outcome: SessionReport["outcome"]): SessionReport | null {
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
  };
}

/** Stripe names another object by its id, or shows it whole. */
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
