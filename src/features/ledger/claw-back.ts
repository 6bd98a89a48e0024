import { hash } from "node:crypto";
import type { AccountId, TransactionId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { type Clawback, findClawback, findFreeCash, listDebts, putClawback } from "./clawback-store.ts";
import { decideWithin } from "./decide-within.ts";
import { lockWallets } from "./ledger-store.ts";

export type ClawbackRequest = Pick<Clawback, "id" | "accountId" | "channel" | "cause" | "owed">;

/** While an account has debt, it cannot spend. */
export function computeDebt({ owed, taken, waived }: Pick<Clawback, "owed" | "taken" | "waived">): Nano {
  return nano(owed - taken - waived);
}

/**
 * How much to take and waive, given what is owed and the available cash. If less is owed than before, reduce the debt
 * first, then the waived amount, and only then return credit.
 */
export function decideClawback(
  known: { taken: bigint; waived: bigint },
  { owed, available }: { owed: bigint; available: bigint },
): { taken: bigint; waived: bigint } {
  const kept = known.taken < owed ? known.taken : owed;
  const open = owed - kept;
  const waived = known.waived < open ? known.waived : open;
  const missing = open - waived;
  return { taken: kept + (missing < available ? missing : available), waived };
}

/**
 * Claws back credit whose payment was reversed, or returns it. `owed` is the total and not the difference, so a repeated
 * request changes nothing. Amounts that are spent or on hold become debt, which freezes the account until it is paid or
 * waived.
 */
export async function clawBack(tx: Database, request: ClawbackRequest, now: Date): Promise<void> {
  await lockWallets(tx, [request.accountId]);
  const known = await findClawback(tx, request.id);
  if (known === null && request.owed === 0n) return;
  if (known !== null && known.owed === request.owed) return;
  const fresh = { taken: nano(0n), waived: nano(0n), stepCount: 0, createdAt: now };
  await settleClawback(tx, { ...fresh, ...known, ...request }, now);
  await collectDebts(tx, request.accountId, now);
}

/** Pays the account's debts from cash that is not on hold, oldest first. */
export async function collectDebts(tx: Database, accountId: AccountId, now: Date): Promise<void> {
  await lockWallets(tx, [accountId]);
  for (const debt of await listDebts(tx, accountId)) await settleClawback(tx, debt, now);
}

async function settleClawback(tx: Database, clawback: Clawback, now: Date): Promise<void> {
  const { accountId, owed } = clawback;
  const available = await findFreeCash(tx, accountId);
  const { taken, waived } = decideClawback(clawback, { owed, available });
  const stepCount = taken === clawback.taken ? clawback.stepCount : clawback.stepCount + 1;
  if (taken !== clawback.taken) {
    const operation = {
      kind: "adjust" as const,
      id: nameStep(clawback.id, stepCount),
      accountId,
      amount: nano(clawback.taken - taken),
      reverses: clawback.channel,
      cause: clawback.cause,
    };
    const { results } = await decideWithin(tx, [operation], { now });
    invariant(results[0]?.kind === "booked", `${operation.id} returned ${results[0]?.kind}`);
  }
  await putClawback(tx, { ...clawback, taken: nano(taken), waived: nano(waived), stepCount }, now);
}

/** Derived from the clawback and the step, so each step is booked once. */
function nameStep(id: string, stepCount: number): TransactionId {
  return `txn_${hash("sha256", `clawback\n${id}`, "hex").slice(0, 32)}r${stepCount}`;
}
