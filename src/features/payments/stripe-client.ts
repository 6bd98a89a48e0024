import type { Stripe } from "stripe";
import type { AccountId, CheckoutId } from "../../lib/ids.ts";
import { createWholeFetch } from "../../platform/net/fetch-whole.ts";
import { createGuardedClient } from "../../platform/net/guarded-client.ts";
import type { StripeReversal } from "./reversal.ts";
import {
  readCard,
  readPayment,
  readPaymentCheckout,
  readReversal,
  readSession,
  readStripeEvent,
  reversalEvents,
  type StripeCard,
  type StripeEvent,
  type StripeSession,
} from "./stripe-event.ts";

type NewSession = {
  checkoutId: CheckoutId;
  accountId: AccountId;
  amountMinor: bigint;
  currency: string;
  /** The product name on Stripe's payment page. */
  title: string;
  /** Allows later charges of the card without the customer. */
  savesCard: boolean;
  /** `null` offers those of Stripe's dashboard. */
  methods?: readonly string[] | null;
  successUrl: string;
  cancelUrl: string;
  expiresAt: Date;
};

/** A charge of a saved card without the customer. */
type NewCharge = Pick<NewSession, "checkoutId" | "accountId" | "amountMinor" | "currency" | "title"> &
  Pick<StripeCard, "customerId" | "cardId">;

/** Stripe's API. Every method except `readEvent` may throw the library's errors. */
export type StripeClient = {
  /** Idempotent per checkout: a retry returns the same session. */
  createSession(request: NewSession): Promise<{ sessionId: string; url: string }>;
  /** `null` if Stripe has no such session. */
  findSession(sessionId: string): Promise<StripeSession | null>;
  /** The checkout id in the payment's metadata, or `null`. */
  findPaymentCheckout(paymentId: string): Promise<string | null>;
  /**
   * Idempotent per checkout for a day: a retry charges once. Returns a decline as an outcome, and throws if the outcome is
   * unknown.
   */
  chargeCard(request: NewCharge): Promise<StripeSession>;
  /** The charge of a checkout among the customer's payments since a time, or `null`. */
  findCharge(request: Pick<NewCharge, "customerId" | "checkoutId"> & { since: Date }): Promise<StripeSession | null>;
  /** The saved card of a payment, or `null`. */
  findCard(paymentId: string): Promise<StripeCard | null>;
  /** Removes a card from its customer, so that it cannot be charged again. Repeatable. */
  detachCard(cardId: string): Promise<void>;
  /** Idempotent per `reference` for a day: a retry returns the same refund. */
  refund(request: { paymentId: string; amountMinor: bigint; reference: string }): Promise<StripeReversal>;
  listRefunds(paymentId: string): Promise<StripeReversal[]>;
  /** `null` if the API key may not read events. */
  listReversalEvents(since: Date): Promise<StripeEvent[] | null>;
  /** `null` if the signature is invalid or too old. */
  readEvent(body: Buffer, signature: string, now: Date): Promise<StripeEvent | null>;
  close(): Promise<void>;
};

export type StripeKeys = { secretKey: string; webhookSecret: string };

/** Only tests change these. */
export type StripePlace = { url: string; timeoutMs?: number };

const standardUrl = "https://api.stripe.com";
const timeoutMsStandard = 10_000;
const signatureSecondsMax = 300;
const pageMax = 100;
const clockSecondsMax = 600;
const answerBytesMax = 32 * 1024 * 1024;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one client; each function is one request to Stripe.
export function createStripeClient(keys: StripeKeys, place: StripePlace = { url: standardUrl }): StripeClient {
  const { protocol, hostname, port } = new URL(place.url);
  const isSecure = protocol === "https:";
  const timeoutMs = place.timeoutMs ?? timeoutMsStandard;
  // The URL is Stripe's own or a test's, never a customer's: no SSRF to guard against.
  const client = createGuardedClient({ allowsPrivate: true });
  let opened: Promise<Stripe> | null = null;

  /** Imported on first use: the library is large, and most gateways take no payments. */
  async function open(): Promise<Stripe> {
    const { Stripe: StripeLibrary } = await import("stripe");
    return new StripeLibrary(keys.secretKey, {
      host: hostname,
      protocol: isSecure ? "https" : "http",
      port: port === "" ? (isSecure ? 443 : 80) : Number(port),
      httpClient: StripeLibrary.createFetchHttpClient(
        createWholeFetch(client, { bytesMax: answerBytesMax, timeoutMs, connection: "kept" }),
      ),
      maxNetworkRetries: 1,
      telemetry: false,
    });
  }

  function getStripe(): Promise<Stripe> {
    opened ??= open();
    return opened;
  }

  return {
    async createSession(request) {
      const stripe = await getStripe();
      const session: unknown = await stripe.checkout.sessions.create(describeSession(request), {
        idempotencyKey: request.checkoutId,
      });
      return readNewSession(session);
    },
    async findSession(sessionId) {
      const stripe = await getStripe();
      try {
        const session: unknown = await stripe.checkout.sessions.retrieve(sessionId, { expand: ["payment_intent"] });
        return readSession(session);
      } catch (error) {
        if (hasStatus(error, 404)) return null;
        throw error;
      }
    },
    async findPaymentCheckout(paymentId) {
      const stripe = await getStripe();
      try {
        return readPaymentCheckout(await stripe.paymentIntents.retrieve(paymentId));
      } catch (error) {
        if (hasStatus(error, 404)) return null;
        throw error;
      }
    },
    async chargeCard(request) {
      const stripe = await getStripe();
      try {
        const payment: unknown = await stripe.paymentIntents.create(describeCharge(request), {
          idempotencyKey: request.checkoutId,
        });
        return requirePayment(payment);
      } catch (error) {
        const failure = readChargeFailure(error, request);
        if (failure === null) throw error;
        return failure;
      }
    },
    async findCharge({ customerId, checkoutId, since }) {
      const stripe = await getStripe();
      // Stripe's clock may be behind ours.
      const created = { gte: Math.floor(since.getTime() / 1000) - clockSecondsMax };
      for await (const payment of stripe.paymentIntents.list({ customer: customerId, created, limit: pageMax })) {
        const read = readPayment(payment);
        if (read?.checkoutId === checkoutId) return read;
      }
      return null;
    },
    async findCard(paymentId) {
      const stripe = await getStripe();
      try {
        return readCard(await stripe.paymentIntents.retrieve(paymentId, { expand: ["payment_method"] }));
      } catch (error) {
        if (hasStatus(error, 404)) return null;
        throw error;
      }
    },
    async detachCard(cardId) {
      const stripe = await getStripe();
      try {
        await stripe.paymentMethods.detach(cardId);
      } catch (error) {
        // Stripe refuses to detach a card twice.
        if (!hasStatus(error, 400) && !hasStatus(error, 404)) throw error;
      }
    },
    async refund({ paymentId, amountMinor, reference }) {
      const stripe = await getStripe();
      const refund: unknown = await stripe.refunds.create(
        { payment_intent: paymentId, amount: Number(amountMinor), reason: "requested_by_customer" },
        { idempotencyKey: reference },
      );
      const reversal = readReversal(refund, "refund");
      if (reversal === null) throw new Error("Stripe returned a refund without a payment.");
      return reversal;
    },
    async listRefunds(paymentId) {
      const stripe = await getStripe();
      const reversals: StripeReversal[] = [];
      for await (const refund of stripe.refunds.list({ payment_intent: paymentId, limit: pageMax })) {
        const reversal = readReversal(refund, "refund");
        if (reversal !== null) reversals.push(reversal);
      }
      return reversals;
    },
    async listReversalEvents(since) {
      const stripe = await getStripe();
      const events: StripeEvent[] = [];
      const created = { gte: Math.floor(since.getTime() / 1000) };
      try {
        for await (const event of stripe.events.list({ types: [...reversalEvents], created, limit: pageMax })) {
          events.push(readStripeEvent(event));
        }
      } catch (error) {
        if (hasStatus(error, 403)) return null;
        throw error;
      }
      return events;
    },
    async readEvent(body, signature, now) {
      const stripe = await getStripe();
      let event: unknown;
      try {
        const { webhooks } = stripe;
        const receivedAtMs = now.getTime();
        event = webhooks.constructEvent(
          body,
          signature,
          keys.webhookSecret,
          signatureSecondsMax,
          undefined,
          receivedAtMs,
        );
      } catch {
        // Drop the library's message: it is written for the holder of the secret, not for the sender.
        return null;
      }
      return readStripeEvent(event);
    },
    close: () => client.close(),
  };
}

function describeSession(request: NewSession): Stripe.Checkout.SessionCreateParams {
  const metadata = { account: request.accountId, checkout: request.checkoutId };
  return {
    mode: "payment",
    client_reference_id: request.checkoutId,
    metadata,
    payment_intent_data: { metadata, ...(request.savesCard ? { setup_future_usage: "off_session" as const } : {}) },
    ...(request.savesCard
      ? { customer_creation: "always" as const, allowed_payment_method_types: ["card" as const] }
      : {}),
    // A card that is saved is the only method then.
    ...(request.savesCard ? {} : describeMethods(request.methods ?? null)),
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: request.currency.toLowerCase(),
          unit_amount: Number(request.amountMinor),
          product_data: { name: request.title },
        },
      },
    ],
    // No currency conversion: the customer pays exactly the amount that is credited.
    adaptive_pricing: { enabled: false },
    success_url: request.successUrl,
    cancel_url: request.cancelUrl,
    expires_at: Math.floor(request.expiresAt.getTime() / 1000),
  };
}

type MethodParams = Pick<
  Stripe.Checkout.SessionCreateParams,
  "allowed_payment_method_types" | "payment_method_options"
>;

function describeMethods(methods: readonly string[] | null): MethodParams {
  if (methods === null || methods.length === 0) return {};
  // The setting allows only Stripe's own names.
  const types = [...methods] as NonNullable<MethodParams["allowed_payment_method_types"]>;
  // WeChat Pay shows its code on the page, and needs to know that it is one.
  const options = methods.includes("wechat_pay") ? { wechat_pay: { client: "web" as const } } : null;
  return { allowed_payment_method_types: types, ...(options === null ? {} : { payment_method_options: options }) };
}

function describeCharge(request: NewCharge): Stripe.PaymentIntentCreateParams {
  return {
    amount: Number(request.amountMinor),
    currency: request.currency.toLowerCase(),
    customer: request.customerId,
    payment_method: request.cardId,
    // Redirects need a customer on a page.
    allowed_payment_method_types: ["card"],
    automatic_payment_methods: { enabled: true, allow_redirects: "never" },
    description: request.title,
    metadata: { account: request.accountId, checkout: request.checkoutId },
    off_session: true,
    confirm: true,
  };
}

function requirePayment(payment: unknown): StripeSession {
  const read = readPayment(payment);
  if (read === null) throw new Error("Stripe returned a payment without an id.");
  return read;
}

/** A decline, or a request that Stripe rejects because the card or its customer is gone; `null` for other errors. */
function readChargeFailure(error: unknown, request: NewCharge): StripeSession | null {
  const { checkoutId, accountId, amountMinor, currency } = request;
  if (![402, 400, 404].some((status) => hasStatus(error, status))) return null;
  const { code, decline_code: declineCode, payment_intent: payment } = error as Record<string, unknown>;
  const note = [declineCode, code].find((text) => typeof text === "string" && text !== "");
  return {
    ...{ sessionId: null, checkoutId, accountId, amountMinor, currency },
    paymentId: readPayment(payment)?.paymentId ?? null,
    outcome: "failed",
    note: typeof note === "string" ? note : null,
  };
}

function readNewSession(session: unknown): { sessionId: string; url: string } {
  const { id, url } = session as { id?: unknown; url?: unknown };
  // The console redirects browsers to this URL.
  const isWhole = typeof id === "string" && id !== "" && typeof url === "string" && url.startsWith("https://");
  if (!isWhole) throw new Error("Stripe returned a session without an id or an https URL.");
  return { sessionId: id, url };
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof Error && "statusCode" in error && error.statusCode === status;
}
