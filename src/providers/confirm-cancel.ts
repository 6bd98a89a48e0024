import { ProviderError } from "./contract.ts";
import type { CancelOutcome, PollOutcome } from "./generation.ts";

/**
 * Whether a cancel that the vendor received has ended the job. If the poll fails, that stays open: the next one finds
 * out.
 */
export async function confirmCancel(poll: () => Promise<PollOutcome>): Promise<CancelOutcome> {
  try {
    const { kind } = await poll();
    return kind === "lost" || kind === "canceled" ? "canceled" : "requested";
  } catch (error) {
    if (error instanceof ProviderError) return "requested";
    throw error;
  }
}
