import { AppError } from "../../../platform/errors/app-error.ts";
import type { PaymentDependencies } from "../apply-reversal.ts";
import { applyPaymentEvent } from "./apply-payment-event.ts";
import { parsePaymentEvent } from "./payment-event.ts";
import { verifySignature } from "./verify-signature.ts";

export type SignedPaymentEvent = { id: string; timestamp: string; signature: string; body: Buffer };

/** Handles another provider's event. Its effects are durable when this returns; the provider repeats every error. */
export async function handlePaymentEvent(
  dependencies: Pick<PaymentDependencies, "database" | "clock" | "logger"> & { currency: string; secret: string },
  signed: SignedPaymentEvent,
): Promise<void> {
  if (!verifySignature(signed, dependencies.secret, dependencies.clock.now())) {
    throw new AppError("invalid_parameter", "The signature is invalid or too old.", { param: "webhook-signature" });
  }
  const event = parsePaymentEvent(signed.body);
  if (event === null) return dependencies.logger.debug({ webhook_id: signed.id }, "payment event ignored");
  await applyPaymentEvent(dependencies, event);
}
