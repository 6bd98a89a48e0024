import type { Stripe } from "stripe";
import type { AccountId, CheckoutId } from "../../lib/ids.ts";
import { createWholeFetch } from "../../platform/net/fetch-whole.ts";
import { createGuardedClient } from "../../platform/net/guarded-client.ts";
import type { ToldReversal } from "./reversal.ts";
import {
  readNews,
  readPaymentCheckout,
  readReversal,
  readSession,
  reversalEvents,
  type SessionReport,
  type StripeNews,
} from "./session-report.ts";

type NewSession = {
  checkoutId: CheckoutId;
  accountId: AccountId;
  amountMinor: bigint;
  currency: string;
  /** What the person reads that they pay for. */
  title: string;
  successUrl: string;
  cancelUrl: string;
  expiresAt: Date;
};

/** What we ask Stripe for, and what we hear from it. All but `readEvent` may throw whatever its library throws. */
export type StripeClient = {
  /** Sent again with the same checkout it answers with the same session. */
  createSession(request: NewSession): Promise<{ sessionId: string; url: string }>;
  /** `null` when Stripe knows no such session. */
  findSession(sessionId: string): Promise<SessionReport | null>;
  /** The checkout of ours that a payment is of, `null` when it is of none. */
  findPaymentCheckout(paymentId: string): Promise<string | null>;
  listRefunds(paymentId: string): Promise<ToldReversal[]>;
  /** What Stripe has told of refunds and disputes since a time; `null` when its key may not know. */
  listReversals(since: Date): Promise<StripeNews[] | null>;
  /** `null` when Stripe did not sign this, or not lately. */
  readEvent(body: Buffer, signature: string, now: Date): Promise<StripeNews | null>;
  close(): Promise<void>;
};

export type StripeKeys = { secretKey: string; webhookSecret: string };

/** Where Stripe is and how long a request may take; only tests have another one. */
export type StripePlace = { url: string; timeoutMs?: number };

const standardUrl = "https://api.stripe.com";
const timeoutMsStandard = 10_000;
const signatureSecondsMax = 300;
const pageMax = 100;
const answerBytesMax = 32 * 1024 * 1024;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one client; each function of it is one question to Stripe.
export function createStripeClient(keys: StripeKeys, place: StripePlace = { url: standardUrl }): StripeClient {
  const { protocol, hostname, port } = new URL(place.url);
  const isSecure = protocol === "https:";
  const timeoutMs = place.timeoutMs ?? timeoutMsStandard;
  // The operator's choice, or a test's.
  const client = createGuardedClient({ allowsPrivate: true });
  let opened: Promise<Stripe> | null = null;

  /** Loaded when it is first needed: it is large, and most gateways never do. */
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
      const told: ToldReversal[] = [];
      for await (const refund of stripe.refunds.list({ payment_intent: paymentId, limit: pageMax })) {
        const reversal = readReversal(refund, "refund");
        if (reversal !== null) told.push(reversal);
      }
      return told;
    },
    async listReversals(since) {
      const stripe = await getStripe();
      const news: StripeNews[] = [];
      const created = { gte: Math.floor(since.getTime() / 1000) };
      try {
        for await (const event of stripe.events.list({ types: [...reversalEvents], created, limit: pageMax })) {
          news.push(readNews(event));
        }
      } catch (error) {
        if (hasStatus(error, 403)) return null;
        throw error;
      }
      return news;
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
        // Whatever is wrong with it, it is not what Stripe sends; the library's sentence is for whoever holds the secret.
        return null;
      }
      return readNews(event);
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
    // What is paid is what is credited, in the one currency of the ledger.
    adaptive_pricing: { enabled: false },
    success_url: request.successUrl,
    cancel_url: request.cancelUrl,
    expires_at: Math.floor(request.expiresAt.getTime() / 1000),
  };
}

function readNewSession(session: unknown): { sessionId: string; url: string } {
  const { id, url } = session as { id?: unknown; url?: unknown };
  // Browsers are sent there.
  const isWhole = typeof id === "string" && id !== "" && typeof url === "string" && url.startsWith("https://");
  if (!isWhole) throw new Error("Stripe answered with something that is no session to pay in.");
  return { sessionId: id, url };
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof Error && "statusCode" in error && error.statusCode === status;
}
