import type { SiteSession } from "../../../lib/console-session.ts";
import { presentNetwork } from "../../../lib/network.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { isCodeText, type RedeemCode, redeemCode } from "../../ledger/index.ts";
import type { AttemptLimit } from "../sign-in/throttle.ts";
import type { SiteDependencies } from "../site-dependencies.ts";

const hourMs = 60 * 60_000;

export type RedeemDependencies = SiteDependencies & { currency: string };

/** There are 2¹⁰⁰ codes; the limit only bounds brute force. */
function limitCodes(accountId: string, address: string): AttemptLimit[] {
  return [
    { key: `redeem:${accountId}`, max: 10, withinMs: hourMs },
    { key: `redeem:from:${presentNetwork(address)}`, max: 10, withinMs: hourMs },
  ];
}

/** Redeems a code for the session's account. Only codes that never existed count as guesses. */
export async function redeemOwnCode(
  { database, clock, logger, beginAttempt, currency }: RedeemDependencies,
  { accountId, userId }: SiteSession,
  { text, address }: { text: string; address: string },
): Promise<RedeemCode> {
  if (!isCodeText(text)) {
    const message = "A code has 20 letters and digits, such as 7KQ2M-X4TRA-9HPVC-E6WN3.";
    throw new AppError("invalid_parameter", message, { param: "code" });
  }
  const attempt = await beginAttempt(limitCodes(accountId, address));
  try {
    const code = await redeemCode({ database, clock, currency }, { accountId, text });
    await attempt.succeed();
    logger.info({ account_id: accountId, user_id: userId, code_id: code.id }, "code redeemed");
    return code;
  } catch (error) {
    const isGuess = error instanceof AppError && error.code === "not_found";
    if (!isGuess) await attempt.succeed();
    throw error;
  }
}
