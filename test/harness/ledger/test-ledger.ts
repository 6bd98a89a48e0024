import { randomBytes } from "node:crypto";
import { createAccount } from "../../../src/features/accounts/index.ts";
import { createLedger, type Ledger } from "../../../src/features/ledger/create-ledger.ts";
import type { HoldOperation, SettleOperation } from "../../../src/features/ledger/operation.ts";
import type { Bill } from "../../../src/lib/bill.ts";
import type { Clock } from "../../../src/lib/clock.ts";
import { type AccountId, createIdSource, type HoldId, type IdSource } from "../../../src/lib/ids.ts";
import { nano } from "../../../src/lib/money.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { createTestClock, type TestClock } from "../test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";

export type TestLedger = AsyncDisposable & {
  url: string;
  database: Database;
  ledger: Ledger;
  clock: TestClock;
  /** Clock, ids and the database, as operations take them. */
  parts: {
    database: Database;
    clock: Clock;
    ids: IdSource;
    randomBytes: (count: number) => Uint8Array;
    currency: string;
  };
  /** A new account, with some cash. */
  createAccount(cash?: bigint): Promise<AccountId>;
  /** A hold of an amount, and a settlement of one, with defaults for the rest. */
  hold(accountId: AccountId, amount: bigint, more?: Partial<HoldOperation>): HoldOperation;
  settle(accountId: AccountId, holdId: HoldId, cost: bigint, more?: Partial<SettleOperation>): SettleOperation;
};

const minuteMs = 60_000;

/** A real ledger on its own real database, or on the given one. */
export async function openTestLedger(given?: TestDatabase): Promise<TestLedger> {
  const testDatabase = given ?? (await createTestDatabase());
  const address = { connectionString: testDatabase.url };
  const database = createDatabase({ address, connectionsMax: 10, onConnectionError: () => {} });
  const clock = createTestClock();
  const ids = createIdSource({ clock, randomBytes });
  const ledger = createLedger({ database, address, clock, onTrouble: () => {} });
  const parts = { database, clock, ids, randomBytes, currency: "USD" };
  return {
    url: testDatabase.url,
    database,
    ledger,
    clock,
    parts,
    async createAccount(cash = 0n) {
      const email = `${randomBytes(6).toString("hex")}@example.com`;
      const { id } = await createAccount(parts, { email });
      if (cash > 0n) {
        const cause = { kind: "operator", id: "act_test" } as const;
        const topUp = { id: ids.next("txn"), accountId: id, amount: nano(cash), channel: "operator", cause };
        await ledger.apply({ kind: "top-up", ...topUp });
      }
      return id;
    },
    hold: (accountId, amount, more = {}) => ({
      kind: "hold",
      id: ids.next("hold"),
      accountId,
      amount: nano(amount),
      quota: null,
      budget: null,
      cause: { kind: "request", id: ids.next("req") },
      expiresAt: new Date(clock.now().getTime() + 15 * minuteMs),
      ...more,
    }),
    settle: (accountId, holdId, cost, more = {}) => ({
      kind: "settle",
      accountId,
      holdId,
      bill: createBill(cost),
      overrun: "refuse",
      budgetAmount: null,
      ...more,
    }),
    async [Symbol.asyncDispose]() {
      await ledger.close();
      await database.destroy();
      await testDatabase.close();
    },
  };
}

/** A bill for an amount: this many tokens at a price of one billionth. */
function createBill(cost: bigint): Bill {
  const items = [{ name: "output_tokens", quantity: cost, rate: nano(1n) }];
  return { priceId: "price_test", items, per: 1n, minimum: nano(0n), quotaUnits: cost };
}
