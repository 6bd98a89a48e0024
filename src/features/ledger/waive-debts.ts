import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { requireReason } from "./book-credit.ts";
import { computeDebt } from "./claw-back.ts";
import { listClawbacks, putClawback } from "./clawback-store.ts";
import { lockWallets } from "./ledger-store.ts";
import { insertOperatorAction } from "./operator-action-store.ts";

/** Gives up what is still owed for a payment, together with the record of who decided it. Returns how much that was. */
export async function waiveDebts(
  { database, clock, ids }: { database: Database; clock: Clock; ids: IdSource },
  { causeId, actor, ...request }: { causeId: string; actor: string; reason: string },
): Promise<Nano> {
  const reason = requireReason(request.reason);
  const now = clock.now();
  return await inTransaction(database, async (tx) => {
    const accountIds = new Set((await listClawbacks(tx, causeId)).map(({ accountId }) => accountId));
    await lockWallets(tx, [...accountIds]);
    const debts = (await listClawbacks(tx, causeId)).filter((clawback) => computeDebt(clawback) > 0n);
    if (debts.length === 0) throw new AppError("not_found", `Nothing is owed for ${causeId}.`);
    for (const debt of debts) await putClawback(tx, { ...debt, waived: nano(debt.owed - debt.taken) }, now);
    await insertOperatorAction(tx, { id: ids.next("act"), actor, action: "waive", reason, createdAt: now });
    return nano(debts.reduce((sum, debt) => sum + computeDebt(debt), 0n));
  });
}
