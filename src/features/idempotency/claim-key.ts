import type { Clock } from "../../lib/clock.ts";
import type { HoldId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { databaseLimits } from "../../platform/database/database-limits.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type Claim, type KeptAnswer, type KnownKey, leaseMs } from "./idempotency-key.ts";
import { type ClaimTimes, findKey, insertClaim, lockKey, type NewClaim, replaceClaim } from "./idempotency-store.ts";

export type ClaimTerms = {
  validityMs: number;
  /** Releases the hold of a request whose process died, in the transaction that takes over its key. */
  releaseHold(tx: Database, hold: { accountId: Claim["accountId"]; holdId: HoldId }): Promise<void>;
  /**
   * How long the database has been available without an outage. Processes cannot renew their leases during an outage, so
   * right after one an expired lease does not mean a dead process. Absent if no claim lasts as long as a lease.
   */
  liveForMs?: () => number;
};

type Taking = Pick<ClaimTerms, "releaseHold" | "liveForMs">;

export type ClaimOutcome = { kind: "claimed"; claim: Claim } | { kind: "answered"; answer: KeptAnswer };

const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** Strips the quotes that some clients put around the key. */
export function parseIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const text = typeof header === "string" ? header : header.join(",");
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (keyPattern.test(key)) return key;
  throw new AppError("invalid_parameter", "`Idempotency-Key` must have 1 to 255 visible ASCII characters.", {
    param: "Idempotency-Key",
  });
}

/** The stored response; `null` if the key is free. Throws if the first request still runs or was a different one. */
export async function recallAnswer(
  { database, clock, liveForMs }: { database: Database; clock: Clock } & Pick<ClaimTerms, "liveForMs">,
  asked: Pick<Claim, "accountId" | "key"> & { fingerprint: Buffer },
): Promise<KeptAnswer | null> {
  const known = await findKey(database, asked);
  return known === null || isFree(known, clock.now(), liveForMs) ? null : getAnswer(known, asked);
}

/** Whether the key belongs to a running request or has a stored response. */
export async function isKeyKnown(
  { database, clock }: { database: Database; clock: Clock },
  asked: Pick<Claim, "accountId" | "key">,
): Promise<boolean> {
  const known = await findKey(database, asked);
  return known !== null && !isFree(known, clock.now(), undefined);
}

export type WantedClaim = Claim & { fingerprint: Buffer; holdId: HoldId | null };

/** Claims a key for a request, or returns the first request's stored response. */
export async function claimKey(
  { database, clock, ...terms }: ClaimTerms & { database: Database; clock: Clock },
  wanted: WantedClaim,
): Promise<ClaimOutcome> {
  const claim = { ...wanted, ...computeTimes(clock.now(), terms.validityMs) };
  if (await insertClaim(database, claim)) return { kind: "claimed", claim: wanted };
  return await findOrTakeOver(database, claim, terms);
}

export function computeTimes(now: Date, validityMs: number): ClaimTimes {
  return {
    now,
    leaseUntil: new Date(now.getTime() + leaseMs),
    expiresAt: new Date(now.getTime() + validityMs),
  };
}

/** Resolves a claim whose insert conflicted. */
export async function findOrTakeOver(database: Database, claim: NewClaim, taking: Taking): Promise<ClaimOutcome> {
  const known = await findKey(database, claim);
  // Our own insert: an earlier attempt committed, but its result was lost.
  if (known?.requestId === claim.requestId && known.answer === null) return { kind: "claimed", claim };
  if (known !== null && !isFree(known, claim.now, taking.liveForMs)) {
    return { kind: "answered", answer: getAnswer(known, claim) };
  }
  return await database.transaction().execute((tx) => takeOver(tx, claim, taking));
}

/** Rechecks under the row lock: the key may have been freed or claimed in between. */
async function takeOver(tx: Database, claim: NewClaim, { releaseHold, liveForMs }: Taking): Promise<ClaimOutcome> {
  const known = await lockKey(tx, claim);
  if (known === null) {
    if (await insertClaim(tx, claim)) return { kind: "claimed", claim };
    throw createInProgress();
  }
  if (!isFree(known, claim.now, liveForMs)) return { kind: "answered", answer: getAnswer(known, claim) };
  if (known.answer === null && known.holdId !== null) {
    await releaseHold(tx, { accountId: claim.accountId, holdId: known.holdId });
  }
  await replaceClaim(tx, claim);
  return { kind: "claimed", claim };
}

/** The stored response has expired, or the process is dead: it could have renewed its lease and did not. */
function isFree({ answer, leaseUntil, expiresAt }: KnownKey, now: Date, liveForMs: ClaimTerms["liveForMs"]): boolean {
  if (answer !== null) return expiresAt <= now;
  return leaseUntil <= now && (liveForMs === undefined || liveForMs() >= databaseLimits.leaseGraceMs);
}

function getAnswer(known: KnownKey, { fingerprint }: { fingerprint: Buffer }): KeptAnswer {
  if (!known.fingerprint.equals(fingerprint)) {
    throw new AppError("idempotency_key_reused", "This Idempotency-Key was used for a different request.", {
      param: "Idempotency-Key",
    });
  }
  if (known.answer === null) throw createInProgress();
  return known.answer;
}

function createInProgress(): AppError {
  return new AppError("idempotency_in_progress", "The first request with this Idempotency-Key is still running.", {
    param: "Idempotency-Key",
  });
}
