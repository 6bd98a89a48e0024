import { AppError } from "../../platform/errors/app-error.ts";
import { applyReport, type ReportParts } from "./apply-report.ts";
import { updateReversal } from "./checkout-store.ts";
import type { StripeNews } from "./session-report.ts";
import type { StripeClient } from "./stripe-client.ts";

/**
 * Takes in an event that Stripe sends. When this returns, everything that follows from it is durable; when it throws
 * anything but an error of the sender's, Stripe sends it again, for days.
 */
export async function hearStripe(
  parts: ReportParts & { stripe: StripeClient },
  { body, signature }: { body: Buffer; signature: string },
): Promise<void> {
  const news = await parts.stripe.readEvent(body, signature, parts.clock.now());
  if (news === null)
    throw new AppError("invalid_parameter", "This is not signed as it has to be.", { param: "Stripe-Signature" });
  switch (news.kind) {
    case "session":
      return await applyReport(parts, news.report);
    case "refunded":
    case "disputed":
      return await noteReversal(parts, news);
    case "other":
      parts.logger.debug({ type: news.type }, "Stripe tells of something that concerns nobody here");
  }
}

/** The money may be spent already, so what becomes of it is for a person to decide. */
async function noteReversal(
  { database, clock, logger }: ReportParts,
  news: Extract<StripeNews, { kind: "refunded" | "disputed" }>,
): Promise<void> {
  const isRefund = news.kind === "refunded";
  const reversal = isRefund ? { refundedMinor: news.refundedMinor } : { disputedAt: clock.now() };
  const payment = { paymentId: news.paymentId, checkoutId: isRefund ? news.checkoutId : null };
  const checkout = await updateReversal(database, payment, reversal);
  if (checkout === null) return;
  const fields = { checkout_id: checkout.id, account_id: checkout.accountId };
  logger.warn(
    fields,
    isRefund ? "a payment was given back; its credit stays" : "a payment is contested; its credit stays",
  );
}
