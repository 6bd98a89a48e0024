import { applyReport } from "./apply-report.ts";
import { applyReversal, type NewsDependencies } from "./apply-reversal.ts";
import type { StripeNews } from "./session-report.ts";

/** Does what follows from an event. When this returns, all of it is durable. */
export async function applyNews(dependencies: NewsDependencies, news: StripeNews): Promise<void> {
  switch (news.kind) {
    case "session":
      return await applyReport(dependencies, news.report);
    case "reversal":
      return await applyReversal(dependencies, news.reversal);
    case "refunded":
      // It tells how much was given back in all, but not by which refunds.
      for (const refund of await dependencies.stripe.listRefunds(news.paymentId))
        await applyReversal(dependencies, refund);
      return;
    case "other":
      dependencies.logger.debug({ type: news.type }, "Stripe tells of something that concerns nobody here");
  }
}
