import type { Stripe } from "stripe";
import type { AccountId, CheckoutId } from "../../lib/ids.ts";
import { createWholeFetch } from "../../platform/net/fetch-whole.ts";
import { createGuardedClient } from "../../platform/net/guarded-client.ts";
import type { StripeReversal } from "./reversal.ts";
import {
  readPaymentCheckout,
  readReversal,
  readSession,
  readStripeEvent,
  reversalEvents,
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
  successUrl: string;
  cancelUrl: string;
  expiresAt: Date;
};

/** Stripe's API. Every method except `readEvent` may throw the library's errors. */
export type StripeClient = {
  /** Idempotent per checkout: a retry returns the same session. */
  createSession(request: NewSession): Promise<{ sessionId: string; url: string }>;
  /** `null` if Stripe has no such session. */
  findSession(sessionId: string): Promise<StripeSession | null>;
  /** The checkout id in the payment's metadata, or `null`. */
  findPaymentCheckout(paymentId: string): Promise<string | null>;
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
    payment_intent_data: { metadata },
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
