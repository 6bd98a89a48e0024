import type { Clock } from "../../lib/clock.ts";
import type { Database, DatabaseAddress } from "../../platform/database/database.ts";
import { createSession } from "../../platform/database/session.ts";
import type { ReachPoint } from "./apply-within.ts";
import { checkOperation } from "./check-operation.ts";
import { createGroupCommit } from "./group-commit.ts";
import type { Operation, ResultOf } from "./operation.ts";

export type Ledger = {
  /** Applies an operation, together with whatever else is under way, and answers once it is durable. */
  apply<O extends Operation>(operation: O): Promise<ResultOf<O>>;
  /** Lets everything that was submitted end first. */
  close(): Promise<void>;
};

type LedgerParts = {
  database: Database;
  address: DatabaseAddress;
  clock: Clock;
  onTrouble(error: unknown): void;
  reach?: ReachPoint;
};

export function createLedger(parts: LedgerParts): Ledger {
  const session = createSession(parts.address);
  const groupCommit = createGroupCommit({ reach: () => {}, ...parts, session });
  return {
    async apply<O extends Operation>(operation: O) {
      checkOperation(operation, parts.clock.now());
      return (await groupCommit.submit(operation)) as ResultOf<O>;
    },
    async close() {
      await groupCommit.drain();
      await session.close();
    },
  };
}
