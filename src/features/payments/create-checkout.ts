import type { AccountId, IdSource } from "../../lib/ids.ts";
import { type Nano, nano, parseMoney, presentMoney } from "../../lib/money.ts";
import { presentNetwork } from "../../lib/network.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { PaymentDependencies } from "./apply-reversal.ts";
import type { Checkout } from "./checkout.ts";
import { countDeclines, insertCheckout, lockCheckoutsOf, updateSession, updateToFailed } from "./checkout-store.ts";
import { countPlaces, toMinor } from "./stripe-amount.ts";

type CheckoutDependencies = Omit<PaymentDependencies, "logger"> & PaymentLimits & { ids: IdSource };

export type PaymentLimits = {
  siteUrl: string;
  currency: string;
  /** Stripe's names of the methods on its page; `null` for those of its dashboard. */
  methods?: readonly string[] | null;
  /** Bounds of one payment, in whole units of the currency. */
  amountMin: number;
  amountMax: number;
};

const hourMs = 60 * 60_000;
/** Stripe allows 30 minutes to 24 hours. */
const payWithinMs = hourMs;
const openMax = 20;
const hourlyMax = 10;
const declinesMax = 10;
const networkPerMinute = 60;
const noteCharactersMax = 500;
const retryAfterSeconds = 30;

/** Stores the checkout, then creates its Stripe session. The credit follows when Stripe reports the payment. */
export async function createCheckout(
  dependencies: CheckoutDependencies,
  { accountId, amount: text, savesCard = false }: { accountId: AccountId; amount: string; savesCard?: boolean },
): Promise<Checkout> {
  const { amount, amountMinor } = parseAmount(dependencies, text);
  const checkout = await openCheckout(dependencies, {
    ...{ accountId, amount, amountMinor },
    cardSave: savesCard ? "wanted" : null,
  });
  const session = await createSession(dependencies, checkout);
  await updateSession(dependencies.database, checkout.id, session);
  return { ...checkout, sessionId: session.sessionId, sessionUrl: session.url };
}

/** Throws if the amount is not within the limits of one payment. */
export function parseAmount(
  { currency, amountMin, amountMax }: Pick<PaymentLimits, "currency" | "amountMin" | "amountMax">,
  text: string,
): { amount: Nano; amountMinor: bigint } {
  const places = countPlaces(currency);
  const amount = parseMoney(text);
  const amountMinor = amount === null ? null : toMinor(amount, currency);
  if (amount === null || amountMinor === null) {
    const form =
      places === 0 ? "a whole number, such as 500" : `a number with at most ${places} decimal places, such as 20.00`;
    throw createWrongAmount(`\`amount\` must be ${form}.`);
  }
  const [min, max] = [toNano(amountMin), toNano(amountMax)];
  if (amount < min || amount > max) {
    throw createWrongAmount(`\`amount\` must be from ${presentMoney(min)} to ${presentMoney(max)} ${currency}.`);
  }
  return { amount, amountMinor };
}

async function openCheckout(
  { database, clock, ids, currency }: CheckoutDependencies,
  wanted: Pick<Checkout, "accountId" | "amount" | "amountMinor" | "cardSave">,
): Promise<Checkout> {
  return await database.transaction().execute(async (tx) => {
    const now = clock.now();
    const { open, recent } = await lockCheckoutsOf(tx, wanted.accountId, new Date(now.getTime() - hourMs));
    requireRoom({ open, recent, now });
    requireFewDeclines(await countDeclines(tx, wanted.accountId, new Date(now.getTime() - 24 * hourMs)));
    const checkout: Checkout = {
      ...wanted,
      id: ids.next("chk"),
      currency,
      state: "open",
      sessionId: null,
      sessionUrl: null,
      paymentId: null,
      note: null,
      createdAt: now,
      expiresAt: new Date(now.getTime() + payWithinMs),
      completedAt: null,
      endedAt: null,
      refundedMinor: 0n,
      disputedAt: null,
      origin: "page",
      customerId: null,
      cardId: null,
    };
    await insertCheckout(tx, checkout);
    return checkout;
  });
}

/** Bounds how many payment pages an account has open at Stripe. */
function requireRoom({ open, recent, now }: { open: Date[]; recent: Date[]; now: Date }): void {
  const [oldest] = recent;
  if (recent.length >= hourlyMax && oldest !== undefined) {
    const freeAt = oldest.getTime() + hourMs;
    throw createTooMany(
      "rate_limit_exceeded",
      `You started ${hourlyMax} payments within an hour.`,
      freeAt - now.getTime(),
    );
  }
  if (open.length < openMax) return;
  const freeAt = Math.min(...open.map((expiresAt) => expiresAt.getTime()));
  const message = `You already have ${openMax} open payments.`;
  throw createTooMany("concurrency_limit_exceeded", message, freeAt - now.getTime());
}

/** Who tests stolen cards is declined often. */
function requireFewDeclines(declines: number): void {
  if (declines < declinesMax) return;
  throw createTooMany("rate_limit_exceeded", `${declines} payments were declined within a day.`, 24 * hourMs);
}

/** Many accounts of one network must not test cards together. Throws if it starts too many payments. */
export async function requireNetworkRoom(counters: Pick<Counters, "take">, address: string): Promise<void> {
  const rate = { key: `checkouts:${presentNetwork(address)}`, perMinute: networkPerMinute, cost: 1 };
  const { isAllowed, rates } = await counters.take({ rates: [rate], leases: [] });
  if (isAllowed) return;
  const waitMs = rates[0]?.retryAfterMs ?? 0;
  throw createTooMany("rate_limit_exceeded", "Too many payments were started from your network.", waitMs);
}

/** If the call fails, Stripe may still have created a page; a payment through it would be credited. */
async function createSession(
  { database, clock, stripe, siteUrl, methods = null }: CheckoutDependencies,
  checkout: Checkout,
): Promise<{ sessionId: string; url: string }> {
  const backUrl = `${siteUrl}/console/billing?checkout=${checkout.id}`;
  try {
    return await stripe.createSession({
      checkoutId: checkout.id,
      accountId: checkout.accountId,
      amountMinor: checkout.amountMinor,
      currency: checkout.currency,
      title: `Credit at ${new URL(siteUrl).host}`,
      savesCard: checkout.cardSave !== null,
      methods,
      successUrl: backUrl,
      cancelUrl: `${backUrl}&canceled=1`,
      expiresAt: checkout.expiresAt,
    });
  } catch (error) {
    const note = String(error).slice(0, noteCharactersMax);
    await updateToFailed(database, checkout.id, { note, now: clock.now() });
    throw new AppError(
      "overloaded",
      `Payments are unavailable at the moment. You were not charged. Try again in ${retryAfterSeconds} seconds.`,
      {
        headers: { "retry-after": String(retryAfterSeconds) },
        detail: { checkoutId: checkout.id },
        cause: error,
      },
    );
  }
}

function createTooMany(code: "rate_limit_exceeded" | "concurrency_limit_exceeded", reason: string, waitMs: number) {
  const seconds = Math.max(60, Math.ceil(waitMs / 1000));
  return new AppError(code, `${reason} Try again in ${Math.ceil(seconds / 60)} minutes.`, {
    headers: { "retry-after": String(seconds) },
  });
}

function createWrongAmount(message: string): AppError {
  return new AppError("invalid_parameter", message, { param: "amount" });
}

function toNano(units: number): Nano {
  return nano(BigInt(units) * 1_000_000_000n);
}
