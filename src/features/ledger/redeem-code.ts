import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { applyWithin } from "./apply-within.ts";
import { decideGiftEnd, hashCode, type RedeemCode } from "./code.ts";
import { lockCode, lockCodeByHash, updateCode } from "./code-store.ts";

/** Redeems a code once: concurrent attempts wait for its row lock. */
export async function redeemCode(
  { database, clock, currency }: { database: Database; clock: Clock; currency: string },
  { accountId, text }: { accountId: AccountId; text: string },
): Promise<RedeemCode> {
  return await database.transaction().execute(async (tx) => {
    const now = clock.now();
    const code = await lockCodeByHash(tx, hashCode(text));
    if (code === null)
      throw new AppError("not_found", "There is no such code. Check that you typed it correctly.", { param: "code" });
    requireRedeemable(code, { accountId, currency, now });
    const booking = {
      // Derived from the code, so it cannot be booked twice.
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
      throw new AppError("invalid_parameter", "The balance would exceed its maximum.", { param: "code" });
    }
    const redeemed = { ...code, redeemedAt: now, redeemedBy: accountId };
    await updateCode(tx, redeemed);
    return redeemed;
  });
}

/** Invalidates an unredeemed code. */
export async function voidCode(
  { database, clock }: { database: Database; clock: Clock },
  id: string,
): Promise<RedeemCode> {
  return await inTransaction(database, async (tx) => {
    const code = await lockCode(tx, id);
    if (code === null) throw new AppError("not_found", `There is no code ${id}.`, { param: "code" });
    if (code.redeemedAt !== null) throw createAlreadyRedeemed("The code was already redeemed", code.redeemedAt);
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
    const beginning = isOwn ? "You already redeemed this code" : "The code was already redeemed";
    throw createAlreadyRedeemed(beginning, code.redeemedAt);
  }
  if (code.voidedAt !== null) throw createInvalid("code", "The code was voided.");
  if (code.expiresAt !== null && code.expiresAt <= now) {
    throw createInvalid("code", `The code expired at ${code.expiresAt.toISOString()}.`);
  }
  if (code.currency !== currency) throw createInvalid("code", `The code is in ${code.currency}, not in ${currency}.`);
}

function createAlreadyRedeemed(beginning: string, redeemedAt: Date): AppError {
  const message = `${beginning} at ${redeemedAt.toISOString()}.`;
  return new AppError("already_completed", message, { param: "code" });
}

function createInvalid(param: string, message: string): AppError {
  return new AppError("invalid_parameter", message, { param });
}
