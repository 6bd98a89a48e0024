import type { AccountId, IdSource } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { type PlanTerms, quotaKinds } from "../../lib/plan-terms.ts";
import type { Database } from "../../platform/database/database.ts";
import { decideWithin } from "./decide-within.ts";
import { lockWallets } from "./ledger-store.ts";
import type { GrantOperation, Operation } from "./operation.ts";
import { findPeriodAround, type PlanPeriod } from "./plan-period.ts";
import { closePlanPeriod, findLatestPlanPeriod, insertPlanPeriod, listOpenBucketsOf } from "./plan-period-store.ts";

/**
 * Puts the account into a current period of its plan. Starts the next period after one has ended, and ends the period of a
 * plan that the account has left at once, with the rest of its quotas. Idempotent.
 */
export async function renewPlan(
  tx: Database,
  request: { accountId: AccountId; terms: PlanTerms | null; now: Date; ids: IdSource },
): Promise<void> {
  const { accountId, terms, now } = request;
  await lockWallets(tx, [accountId]);
  const latest = await findLatestPlanPeriod(tx, accountId);
  const isSamePlan = latest !== null && latest.planId === terms?.planId;
  if (isSamePlan && latest.endsAt > now) return;
  if (latest !== null) {
    await closePlanPeriod(tx, latest, now);
    if (latest.endsAt > now) await expireQuotas(tx, latest, now);
  }
  if (terms === null) return;
  const anchoredAt = isSamePlan ? latest.anchoredAt : now;
  const period = {
    id: request.ids.next("per"),
    accountId,
    planId: terms.planId,
    planName: terms.planName,
    anchoredAt,
    ...findPeriodAround(terms.period, anchoredAt, now),
  };
  await insertPlanPeriod(tx, period);
  await applyAll(tx, listGrants(period, terms), now);
}

async function expireQuotas(tx: Database, { id, accountId }: PlanPeriod, now: Date): Promise<void> {
  const bucketIds = await listOpenBucketsOf(tx, { id, accountId });
  const operations = bucketIds.map((bucketId) => ({
    kind: "expire-bucket" as const,
    accountId,
    bucketId,
    when: "now" as const,
    cause: { kind: "plan" as const, id },
  }));
  await applyAll(tx, operations, now);
}

/** Ids are derived from the period's, so a period is granted once. */
function listGrants(period: PlanPeriod, { quotas }: PlanTerms): GrantOperation[] {
  return quotaKinds
    .filter((kind) => quotas[kind] > 0n)
    .map((kind) => ({
      kind: "grant",
      id: `txn_${period.id.slice("per_".length)}.${kind}`,
      accountId: period.accountId,
      unit: kind,
      amount: quotas[kind],
      expiresAt: period.endsAt,
      channel: "plan",
      cause: { kind: "plan", id: period.id },
    }));
}

async function applyAll(tx: Database, operations: readonly Operation[], now: Date): Promise<void> {
  if (operations.length === 0) return;
  const { results } = await decideWithin(tx, operations, { now });
  const failed = results.find(({ kind }) => kind !== "booked" && kind !== "expired");
  invariant(failed === undefined, `a plan period could not be booked: ${failed?.kind}`);
}
