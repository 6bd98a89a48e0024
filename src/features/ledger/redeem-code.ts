import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { applyWithin } from "./apply-within.ts";
import { decideGiftEnd, hashCode, type RedeemCode } from "./code.ts";
import { lockCode, lockCodeByHash, updateCode } from "./code-store.ts";

/** Takes a code's credit. Of all who try, one gets it. */
export async function redeemCode(
  { database, clock, currency }: { database: Database; clock: Clock; currency: string },
  { accountId, text }: { accountId: AccountId; text: string },
): Promise<RedeemCode> {
  return await database.transaction().execute(async (tx) => {
    const now = clock.now();
    const code = await lockCodeByHash(tx, hashCode(text));
    if (code === null)
      throw new AppError("not_found", "There is no such code. Compare it with what you were given.", { param: "code" });
    requireRedeemable(code, { accountId, currency, now });
    const booking = {
      // Derived, so that a code cannot be booked twice whatever else goes wrong.
      id: `txn_${code.id.slice("code_".length)}` as const,
      accountId,
      amount: code.amount,
      channel: "code",
      cause: { kind: "code" as const, id: code.id },
    };
    const expiresAt = decideGiftEnd(code, now);
    const result =
      code.kind === "cash"
        ? await applyWithin(tx, { kind: "top-up", ...booking }, now)
        : await applyWithin(tx, { kind: "grant", unit: "money", expiresAt, ...booking }, now);
    if (result.kind === "no-such-account") {
      throw new AppError("not_found", `There is no account ${accountId}.`, { param: "account" });
    }
    if (result.kind !== "booked") {
      throw new AppError("invalid_parameter", "The balance would be larger than a balance can be.", { param: "code" });
    }
    const redeemed = { ...code, redeemedAt: now, redeemedBy: accountId };
    await updateCode(tx, redeemed);
    return redeemed;
  });
}

/** A code that nobody has redeemed yet is worth nothing from now on. */
export async function voidCode(
  { database, clock }: { database: Database; clock: Clock },
  id: string,
): Promise<RedeemCode> {
  return await database.transaction().execute(async (tx) => {
    const code = await lockCode(tx, id);
    if (code === null) throw new AppError("not_found", `There is no code ${id}.`, { param: "code" });
    if (code.redeemedAt !== null) throw createRedeemedAlready("The code was", code.redeemedAt);
    const voided = { ...code, voidedAt: code.voidedAt ?? clock.now() };
    await updateCode(tx, voided);
    return voided;
  });
}

function requireRedeemable(
  code: RedeemCode,
  { accountId, currency, now }: { accountId: AccountId; currency: string; now: Date },
): void {
  if (code.redeemedAt !== null) {
    const isOwn = code.redeemedBy === accountId;
    throw createRedeemedAlready(isOwn ? "You have the credit of this code: it was" : "The code was", code.redeemedAt);
  }
  if (code.voidedAt !== null) throw createInvalid("code", "The code was voided.");
  if (code.expiresAt !== null && code.expiresAt <= now) {
    throw createInvalid("code", `The code could be redeemed until ${code.expiresAt.toISOString()}.`);
  }
  if (code.currency !== currency) throw createInvalid("code", `The code is in ${code.currency}, not in ${currency}.`);
}

function createRedeemedAlready(beginning: string, redeemedAt: Date): AppError {
  const message = `${beginning} redeemed already, at ${redeemedAt.toISOString()}.`;
  return new AppError("already_completed", message, { param: "code" });
}

function createInvalid(param: string, message: string): AppError {
  return new AppError("invalid_parameter", message, { param });
}
