import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { databaseLimits } from "../../platform/database/database-limits.ts";
import { type Claim, createTakenOver, type KeptAnswer, leaseMs } from "./idempotency-key.ts";
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
 * Lock order: the claim first, then everything else in the transaction that ends it. Throws if another request has taken
 * over the key.
 */
export async function lockClaim(tx: Database, claim: Claim): Promise<void> {
  const known = await lockKey(tx, claim);
  if (known?.requestId === claim.requestId && known.answer === null) return;
  throw createTakenOver();
}

/** Ends a locked claim with its response, in the transaction that commits what the response reports. */
export async function keepAnswer(tx: Database, claim: Claim, answer: KeptAnswer): Promise<void> {
  await updateAnswer(tx, claim, answer);
}

/**
 * Claims keys and stores their responses in one step, in the transaction that does the work. Returns the granted claims;
 * the keys of the others are taken.
 */
export async function claimWithAnswers<T extends Claim & { fingerprint: Buffer; answer: KeptAnswer }>(
  tx: Database,
  claims: readonly T[],
  { now, validityMs }: { now: Date; validityMs: number },
): Promise<Set<T>> {
  const expiresAt = new Date(now.getTime() + validityMs);
  const name = ({ accountId, key }: Pick<Claim, "accountId" | "key">): string => `${accountId} ${key}`;
  // Of several claims with one key, keep the first. Sorted: a fixed lock order prevents deadlocks.
  const firsts = [...new Map(claims.toReversed().map((claim) => [name(claim), claim])).values()].toSorted(
    (one, other) => (name(one) < name(other) ? -1 : 1),
  );
  if (firsts.length === 0) return new Set();
  const rows = firsts.map((claim) => ({ ...claim, holdId: null, now, leaseUntil: now, expiresAt }));
  const granted = new Set((await insertAnswers(tx, rows)).map((row) => `${row.accountId} ${row.key}`));
  return new Set(firsts.filter((claim) => granted.has(name(claim))));
}

/** Undoes claims that this transaction was granted, if their work could not be done. */
export async function withdrawClaims(tx: Database, claims: readonly Claim[]): Promise<void> {
  await deleteAnswers(tx, claims);
}

/** Ends a claim without a stored response: the next request with the key runs. */
export async function freeKey(database: Database, claim: Claim): Promise<void> {
  await deleteClaim(database, claim);
}

/** Frees a key whose response describes something that was deleted, unless it has a newer response. */
export async function forgetAnswer(
  database: Database,
  key: Pick<Claim, "accountId" | "key">,
  { body }: KeptAnswer,
): Promise<void> {
  if (body !== null) await deleteAnswer(database, { ...key, body });
}

/** Renews the claim's lease until the returned function is called. Retries failures within a second. */
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

export async function forgetExpiredKeys(database: Database, now: Date): Promise<void> {
  while ((await deleteExpiredKeys(database, now, deletedAtOnceMax)) === deletedAtOnceMax);
}
