import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { type Claim, freeKey, type KeptAnswer, keepAnswer, keptBytesMax, lockClaim } from "../idempotency/index.ts";
import { releaseHold, settleHold } from "../ledger/index.ts";
import type { WriteSettlement } from "./authorize-call.ts";
import type { Settlement } from "./paid-endpoint.ts";

type KeptConclusion = {
  settle(write: WriteSettlement): Promise<Settlement>;
  /** The answer that is to be given again; `null` where nothing was answered, so that the same request may run again. */
  describe(settlement: Settlement): KeptAnswer | null;
};

/** Ends a call with a key: its charge and its answer become durable together, or neither does. */
export function concludeKept(
  { database, clock }: { database: Database; clock: Clock },
  claim: Claim,
  { settle, describe }: KeptConclusion,
): Promise<Settlement> {
  return database.transaction().execute(async (tx) => {
    const now = clock.now();
    await lockClaim(tx, claim);
    const settlement = await settle((operation) =>
      operation.kind === "settle" ? settleHold(tx, operation, now) : releaseHold(tx, operation, now),
    );
    const answer = describe(settlement);
    if (answer === null) await freeKey(tx, claim);
    else await keepAnswer(tx, claim, answer);
    return settlement;
  });
}

/** Collects what is sent for a later replay, as long as it is little enough to be kept. */
export type Recorder = {
  add(data: string | Uint8Array): void;
  /** Everything so far, `null` when it is too much. */
  join(): Buffer | null;
};

export function createRecorder(): Recorder {
  let recorded: (string | Uint8Array)[] | null = [];
  let length = 0;
  return {
    add(data) {
      // A text has at least as many bytes as this.
      length += data.length;
      if (length > keptBytesMax) recorded = null;
      else recorded?.push(data);
    },
    join() {
      if (recorded === null) return null;
      const bytes = Buffer.concat(recorded.map((data) => (typeof data === "string" ? Buffer.from(data) : data)));
      return bytes.length > keptBytesMax ? null : bytes;
    },
  };
}
