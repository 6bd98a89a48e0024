import { hash } from "node:crypto";
import type { AccountId, TransactionId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { type Clawback, findClawback, findFreeCash, listDebts, putClawback } from "./clawback-store.ts";
import { decideWithin } from "./decide-within.ts";
import { lockWallets } from "./ledger-store.ts";

export type ClawbackRequest = Pick<Clawback, "id" | "accountId" | "channel" | "cause" | "owed">;

/** What the account owes of it: nothing is spent there meanwhile. */
export function computeDebt({ owed, taken, waived }: Pick<Clawback, "owed" | "taken" | "waived">): Nano {
  return nano(owed - taken - waived);
}

/**
 * What is to be taken and waived when so much is owed and so much cash is there. Where less is owed than before, the debt
 * goes first, then what was waived; only then anything is given back.
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
 * Takes back credit whose funding went away, or gives it again. It names what is owed in all and not the difference, so
 * that whatever is told twice happens once. What is not there, or held by a running call, is the account's debt, which
 * freezes it until it is paid or waived.
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

/** Pays what the account owes from cash that nobody holds, the oldest first. */
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
    invariant(results[0]?.kind === "booked", `${operation.id} was answered with ${results[0]?.kind}`);
  }
  await putClawback(tx, { ...clawback, taken: nano(taken), waived: nano(waived), stepCount }, now);
}

/** Named by what it is for and its number, so that it can be booked once only, whatever else goes wrong. */
function nameStep(id: string, stepCount: number): TransactionId {
  return `txn_${hash("sha256", `clawback\n${id}`, "hex").slice(0, 32)}r${stepCount}`;
}
