import { AppError } from "../../platform/errors/app-error.ts";
import { applyReversal, type PaymentDependencies } from "./apply-reversal.ts";
import { applySession } from "./apply-session.ts";
import { saveCard } from "./cards/save-card.ts";
import type { StripeEvent } from "./stripe-event.ts";

/** Handles a webhook event. Its effects are durable when this returns; Stripe retries every other error for days. */
export async function handleStripeEvent(
  dependencies: PaymentDependencies,
  { body, signature }: { body: Buffer; signature: string },
): Promise<void> {
  const event = await dependencies.stripe.readEvent(body, signature, dependencies.clock.now());
  if (event === null)
    throw new AppError("invalid_parameter", "The signature is invalid or too old.", { param: "Stripe-Signature" });
  await applyStripeEvent(dependencies, event);
}

/** Idempotent: the sweep applies events that the webhook may have delivered already. */
export async function applyStripeEvent(dependencies: PaymentDependencies, event: StripeEvent): Promise<void> {
  switch (event.kind) {
    case "session":
      await applySession(dependencies, event.session);
      return await saveCard(dependencies, event.session.checkoutId);
    case "reversal":
      return await applyReversal(dependencies, event.reversal);
    case "refunded":
      // `charge.refunded` contains only the refunded total, so list the refunds.
      for (const refund of await dependencies.stripe.listRefunds(event.paymentId))
        await applyReversal(dependencies, refund);
      return;
    case "other":
      dependencies.logger.debug({ type: event.type }, "Stripe event ignored");
  }
}
