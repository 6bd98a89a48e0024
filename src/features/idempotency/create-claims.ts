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
import { createTakenOver, type EndedClaim, isClaimLost } from "./ended-claim.ts";
import type { Claim, KeptAnswer } from "./idempotency-key.ts";
import { endClaims, insertClaims, type NewClaim } from "./idempotency-store.ts";
import { renewClaim } from "./keep-answer.ts";

/** Claims of keys that come at the same time are written together. A database that is away for a moment is waited for. */
export type Claims = {
  /** Claims a key for a request, or finds what came of the request that had it first. */
  claim(wanted: WantedClaim): Promise<ClaimOutcome>;
  /** The answer to the request that had the key first; `null` when nobody has it. Throws where it is another's or runs. */
  recall(asked: Pick<WantedClaim, "accountId" | "key" | "fingerprint">): Promise<KeptAnswer | null>;
  /** Tells from time to time that the claim's process lives; answers how to stop that. */
  renew(claim: Claim, onTrouble: (error: unknown) => void): () => void;
  /** Ends a claim with which no money moves. */
  end(ended: EndedClaim): Promise<void>;
};

type Submitted<T> = { item: T; submittedAtMs: number; patienceMs: number };

const batchMax = 256;
const waitingMax = 50_000;

export function createClaims({ database, clock, ...terms }: ClaimTerms & { database: Database; clock: Clock }): Claims {
  const { validityMs } = terms;
  // As long as payments wait for the database.
  const { holdMsMax, settlementMsMax } = databaseLimits;
  const claiming = createPatientCoalescer<WantedClaim, NewClaim | null>(clock, async (batch) => {
    const times = computeTimes(clock.now(), validityMs);
    const claims = batch.map((wanted) => ({ ...wanted, ...times }));
    const granted = await insertClaims(database, claims.toSorted(compareKeys), times);
    // The others are told what they wanted to write, so that they can look what is there.
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
        // The caller gets the error; the key is free as soon as the database is back.
        ending.tell(submit(item, settlementMsMax));
        throw error;
      }
    },
  };
}

/** The order in which everybody writes several keys, so that no two wait for each other. */
function compareKeys(one: NewClaim, other: NewClaim): number {
  if (one.accountId !== other.accountId) return one.accountId < other.accountId ? -1 : 1;
  return one.key < other.key ? -1 : Number(one.key > other.key);
}

/**
 * Sends a batch again while the database is away: what was written by a request is found to be its own. Whoever waits is told
 * when another try, as long as the last one, would end too late.
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
    createFullError: () => new AppError("overloaded", "Too many calls wait for their Idempotency-Keys."),
  });
}
