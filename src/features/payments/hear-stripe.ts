import { AppError } from "../../platform/errors/app-error.ts";
import { applyNews } from "./apply-news.ts";
import type { NewsDependencies } from "./apply-reversal.ts";

/**
 * Takes in an event that Stripe sends. When this returns, everything that follows from it is durable; when it throws
 * anything but an error of the sender's, Stripe sends it again, for days.
 */
export async function hearStripe(
  dependencies: NewsDependencies,
  { body, signature }: { body: Buffer; signature: string },
): Promise<void> {
  const news = await dependencies.stripe.readEvent(body, signature, dependencies.clock.now());
  if (news === null)
    throw new AppError("invalid_parameter", "This is not signed as it has to be.", { param: "Stripe-Signature" });
  await applyNews(dependencies, news);
}
