import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { databaseLimits } from "../../platform/database/database-limits.ts";
import { createTakenOver } from "./ended-claim.ts";
import { type Claim, type KeptAnswer, leaseMs } from "./idempotency-key.ts";
import {
  deleteAnswer,
  deleteAnswers,
  deleteClaim,
  deleteExpiredKeys,
  insertAnswers,
  lockKey,
  updateAnswer,
  updateLease,
} from "./idempotency-store.ts";

const renewMs = leaseMs / 3;
const deletedAtOnceMax = 1000;

/**
 * Locks a claim before the transaction that ends it locks anything else, so that nobody waits in a circle. Throws where
 * another request has taken the key over, because this one was believed to be dead.
 */
export async function lockClaim(tx: Database, claim: Claim): Promise<void> {
  const known = await lockKey(tx, claim);
  if (known?.requestId === claim.requestId && known.answer === null) return;
  throw createTakenOver();
}

/** Ends a locked claim with its answer, in the transaction that does what the answer tells of. */
export async function keepAnswer(tx: Database, claim: Claim, answer: KeptAnswer): Promise<void> {
  await updateAnswer(tx, claim, answer);
}

/**
 * Claims keys and keeps the answers to their requests at once, in the transaction that does all that they ask for. Tells
 * which of the claims were granted: the keys of the others are in use, or were used.
 */
export async function claimWithAnswers<T extends Claim & { fingerprint: Buffer; answer: KeptAnswer }>(
  tx: Database,
  claims: readonly T[],
  { now, validityMs }: { now: Date; validityMs: number },
): Promise<Set<T>> {
  const expiresAt = new Date(now.getTime() + validityMs);
  const name = ({ accountId, key }: Pick<Claim, "accountId" | "key">): string => `${accountId} ${key}`;
  // Of several with one key the first counts; in one order, so that no two transactions wait for each other.
  const firsts = [...new Map(claims.toReversed().map((claim) => [name(claim), claim])).values()].toSorted(
    (one, other) => (name(one) < name(other) ? -1 : 1),
  );
  if (firsts.length === 0) return new Set();
  const rows = firsts.map((claim) => ({ ...claim, holdId: null, now, leaseUntil: now, expiresAt }));
  const granted = new Set((await insertAnswers(tx, rows)).map((row) => `${row.accountId} ${row.key}`));
  return new Set(firsts.filter((claim) => granted.has(name(claim))));
}

/** Forgets claims that were granted in this same transaction, because what they asked for could not be done. */
export async function withdrawClaims(tx: Database, claims: readonly Claim[]): Promise<void> {
  await deleteAnswers(tx, claims);
}

/** Ends a claim whose request did nothing that would have to be remembered: the next one with the key runs. */
export async function freeKey(database: Database, claim: Claim): Promise<void> {
  await deleteClaim(database, claim);
}

/** Frees a key whose answer tells of something that is gone; not if it has another answer by now. */
export async function forgetAnswer(
  database: Database,
  key: Pick<Claim, "accountId" | "key">,
  { body }: KeptAnswer,
): Promise<void> {
  if (body !== null) await deleteAnswer(database, { ...key, body });
}

/** Renews the claim's lease until the function it returns is called. What fails is tried again within a second. */
export function renewClaim(
  { database, clock, onTrouble }: { database: Database; clock: Clock; onTrouble(error: unknown): void },
  claim: Claim,
): () => void {
  let timer = setTimeout(renew, renewMs);
  let isOver = false;

  function renew(): void {
    const leaseUntil = new Date(clock.now().getTime() + leaseMs);
    updateLease(database, claim, leaseUntil).then(() => plan(renewMs), retry);
  }

  function retry(error: unknown): void {
    onTrouble(error);
    plan(databaseLimits.leaseRetryMs);
  }

  function plan(ms: number): void {
    if (!isOver) timer = setTimeout(renew, ms);
  }

  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Removes what is no longer promised to be remembered. */
export async function forgetExpiredKeys(database: Database, now: Date): Promise<void> {
  while ((await deleteExpiredKeys(database, now, deletedAtOnceMax)) === deletedAtOnceMax);
}
