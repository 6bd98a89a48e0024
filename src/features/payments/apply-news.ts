import { applyReport, type ReportParts } from "./apply-report.ts";
import { applyReversal } from "./apply-reversal.ts";
import type { StripeNews } from "./session-report.ts";
import type { StripeClient } from "./stripe-client.ts";

export type NewsParts = ReportParts & { stripe: StripeClient };

/** Does what follows from an event. When this returns, all of it is durable. */
export async function applyNews(parts: NewsParts, news: StripeNews): Promise<void> {
  switch (news.kind) {
    case "session":
      return await applyReport(parts, news.report);
    case "reversal":
      return await applyReversal(parts, news.reversal);
    case "refunded":
      // It tells how much was given back in all, but not by which refunds.
      for (const refund of await parts.stripe.listRefunds(news.paymentId)) await applyReversal(parts, refund);
      return;
    case "other":
      parts.logger.debug({ type: news.type }, "Stripe tells of something that concerns nobody here");
  }
}
