import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { createCoalescer } from "../../lib/coalescer.ts";
import { type Database, isDatabaseUnavailable } from "../../platform/database/database.ts";
import { databaseLimits } from "../../platform/database/database-limits.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import {
  type ClaimOutcome,
  type ClaimTerms,
  computeTimes,
  findOrTakeOver,
  recallAnswer,
  type WantedClaim,
} from "./claim-key.ts";
import { type Claim, createTakenOver, type EndedClaim, isClaimLost, type KeptAnswer } from "./idempotency-key.ts";
import { endClaims, insertClaims, type NewClaim } from "./idempotency-store.ts";
import { renewClaim } from "./keep-answer.ts";

/** Batches concurrent claims, and waits through short database outages. */
export type Claims = {
  /** Claims a key for a request, or returns the first request's stored response. */
  claim(wanted: WantedClaim): Promise<ClaimOutcome>;
  /** The stored response; `null` if the key is free. Throws if the first request still runs or was a different one. */
  recall(asked: Pick<WantedClaim, "accountId" | "key" | "fingerprint">): Promise<KeptAnswer | null>;
  /** Renews the claim's lease until the returned function is called. */
  renew(claim: Claim, onTrouble: (error: unknown) => void): () => void;
  /** Ends a claim outside a ledger transaction: no money moves with it. */
  end(ended: EndedClaim): Promise<void>;
};

type Submitted<T> = { item: T; submittedAtMs: number; patienceMs: number };

const batchMax = 256;
const waitingMax = 50_000;

export function createClaims({ database, clock, ...terms }: ClaimTerms & { database: Database; clock: Clock }): Claims {
  const { validityMs } = terms;
  // The same limits as the ledger's.
  const { holdMsMax, settlementMsMax } = databaseLimits;
  const claiming = createPatientCoalescer<WantedClaim, NewClaim | null>(clock, async (batch) => {
    const times = computeTimes(clock.now(), validityMs);
    const claims = batch.map((wanted) => ({ ...wanted, ...times }));
    const granted = await insertClaims(database, claims.toSorted(compareKeys), times);
    // Return the conflicting claims, so their callers can read the existing row.
    return claims.map((claim) => (granted.has(claim.requestId) ? null : claim));
  });
  const ending = createPatientCoalescer<EndedClaim, void>(clock, async (batch) => {
    await endClaims(database, batch);
    return [];
  });
  const submit = <T>(item: T, patienceMs: number): Submitted<T> => ({
    ...{ item, patienceMs },
    submittedAtMs: clock.monotonicMs(),
  });
  return {
    async claim(wanted) {
      const refused = await claiming.submit(submit(wanted, holdMsMax));
      return refused === null ? { kind: "claimed", claim: wanted } : await findOrTakeOver(database, refused, terms);
    },
    recall: (asked) => recallAnswer({ database, clock, ...terms }, asked),
    renew: (claim, onTrouble) => renewClaim({ database, clock, onTrouble }, claim),
    async end(item) {
      if (item.answer !== null) return await ending.submit(submit(item, settlementMsMax));
      try {
        await ending.submit(submit(item, holdMsMax));
      } catch (error) {
        // The caller gets the error now; retry in the background, so the key is freed when the database is back.
        ending.tell(submit(item, settlementMsMax));
        throw error;
      }
    },
  };
}

/** A fixed lock order prevents deadlocks. */
function compareKeys(one: NewClaim, other: NewClaim): number {
  if (one.accountId !== other.accountId) return one.accountId < other.accountId ? -1 : 1;
  return one.key < other.key ? -1 : Number(one.key > other.key);
}

/**
 * Retries a batch while the database is unavailable; a claim that an earlier try wrote is recognized as its own. An item
 * fails once another try, as long as the last one, would exceed its patience.
 */
function createPatientCoalescer<T, R>(clock: Clock, run: (batch: readonly T[]) => Promise<readonly R[]>) {
  let lastTryMs = 0;

  function expire(failure: unknown, { submittedAtMs, patienceMs }: Submitted<T>): AppError | null {
    if (!isDatabaseUnavailable(failure) || clock.monotonicMs() - submittedAtMs + lastTryMs < patienceMs) return null;
    const message = "The Idempotency-Key could not be recorded. Try again in a moment.";
    return new AppError("overloaded", message, { cause: failure });
  }

  return createCoalescer<Submitted<T>, R>({
    ...{ batchMax, waitingMax, expire },
    async run(batch) {
      const startedMs = clock.monotonicMs();
      try {
        return await run(batch.map(({ item }) => item));
      } catch (error) {
        if (isDatabaseUnavailable(error)) await wait(databaseLimits.retryMs);
        lastTryMs = clock.monotonicMs() - startedMs;
        throw isClaimLost(error) ? createTakenOver(error) : error;
      }
    },
    judge: (failure, submitted) => (isDatabaseUnavailable(failure) ? (expire(failure, submitted) ?? "again") : "alone"),
    createFullError: () =>
      new AppError("overloaded", "Too many requests are waiting for their Idempotency-Keys. Try again in a moment."),
  });
}
