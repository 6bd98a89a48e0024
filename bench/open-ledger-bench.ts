import { hash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { createAccount } from "../src/features/accounts/index.ts";
import { openHold, settleHold } from "../src/features/ledger/apply-within.ts";
import { createLedger } from "../src/features/ledger/create-ledger.ts";
import type { HoldOperation, SettleOperation } from "../src/features/ledger/operation.ts";
import { systemClock } from "../src/lib/clock.ts";
import { type AccountId, createIdSource, type HoldId } from "../src/lib/ids.ts";
import { nano } from "../src/lib/money.ts";
import { createSemaphore } from "../src/lib/semaphore.ts";
import { migrate } from "../src/platform/database/migrate.ts";
import { openDatabase } from "../src/platform/database/open-database.ts";
import { createSession } from "../src/platform/database/session.ts";

export type LedgerBench = Awaited<ReturnType<typeof openLedgerBench>>;

const accountCount = 1000;
const connectionsMax = 20;
const balance = nano(1_000_000_000_000_000n);
const holdAmount = nano(100_000n);
const holdMs = 15 * 60 * 1000;

const bill = {
  priceId: "price_01k0000000bench0000000000",
  items: [
    { name: "input_tokens", quantity: 120n, rate: nano(150_000n) },
    { name: "output_tokens", quantity: 60n, rate: nano(600_000n) },
  ],
  per: 1000n,
  minimum: nano(0n),
  quotaUnits: 180n,
};

const bareInsert = {
  name: "bare-insert",
  text: `insert into bare_holds (id, account_id, unit, amount, bucket_ids, bucket_amounts, state, settled, refusal, missing,
    fingerprint, settlement_fingerprint, key_id, budget_starts_at, cause_kind, cause_id, expires_at, opened_at, resolved_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
    returning id`,
};

/** The ledger on a separate database with 1 000 accounts that have money, and its reference implementations. */
export async function openLedgerBench() {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const { database, address, close } = await openDatabase({
    url: undefined,
    dataDir,
    purpose: "command",
    connectionsMax,
    onProgress: () => {},
    onConnectionError: () => {},
    onLost: () => {},
  });
  await migrate(address);
  await sql`create table bare_holds (like holds including all)`.execute(database);
  const clock = systemClock;
  const ids = createIdSource({ clock, randomBytes });
  const ledger = createLedger({ database, address, clock, onTrouble: (error) => console.error(error) });
  const bareSession = createSession(address);
  const [backend] = await bareSession.query<{ id: number }>(
    { name: "backend-id", text: "select pg_backend_pid() as id" },
    [],
  );
  if (backend === undefined) throw new Error("The database tells no process id.");

  function describeHold(accountId: AccountId): HoldOperation {
    const expiresAt = new Date(clock.now().getTime() + holdMs);
    const cause = { kind: "request", id: ids.next("req") } as const;
    return {
      kind: "hold",
      id: ids.next("hold"),
      accountId,
      amount: holdAmount,
      quota: null,
      budget: null,
      cause,
      expiresAt,
    };
  }

  const describeSettlement = (accountId: AccountId, holdId: HoldId): SettleOperation => ({
    kind: "settle",
    accountId,
    holdId,
    bill,
    overrun: "take-available",
    budgetAmount: null,
  });

  // The pool times out long waits for a connection; here all must wait.
  const transactions = createSemaphore(connectionsMax);

  async function createFundedAccount(index: number): Promise<AccountId> {
    const { id } = await createAccount({ database, clock, ids }, { email: `bench-${index}@example.com` });
    const cause = { kind: "operator", id: ids.next("act") } as const;
    const booked = await ledger.apply({
      kind: "top-up",
      id: ids.next("txn"),
      accountId: id,
      amount: balance,
      channel: "bench",
      cause,
    });
    requireAnswer("booked", booked);
    return id;
  }

  return {
    accountIds: await Promise.all(
      Array.from({ length: accountCount }, (_, index) => transactions.run(() => createFundedAccount(index))),
    ),
    backendId: backend.id,
    async hold(accountId: AccountId): Promise<HoldId> {
      const operation = describeHold(accountId);
      requireAnswer("held", await ledger.apply(operation));
      return operation.id;
    },
    async settle(accountId: AccountId, holdId: HoldId): Promise<void> {
      requireAnswer("settled", await ledger.apply(describeSettlement(accountId, holdId)));
    },
    /** The same decisions, each in its own transaction. */
    async holdAlone(accountId: AccountId): Promise<HoldId> {
      const operation = describeHold(accountId);
      const held = await transactions.run(() =>
        database.transaction().execute((tx) => openHold(tx, operation, clock.now())),
      );
      requireAnswer("held", held);
      return operation.id;
    },
    async settleAlone(accountId: AccountId, holdId: HoldId): Promise<void> {
      const operation = describeSettlement(accountId, holdId);
      const settled = await transactions.run(() =>
        database.transaction().execute((tx) => settleHold(tx, operation, clock.now())),
      );
      requireAnswer("settled", settled);
    },
    /** The minimal cost of a durable hold: one similar row, inserted and committed. */
    async insertBare(accountId: AccountId): Promise<void> {
      const { id, amount, cause, expiresAt } = describeHold(accountId);
      const bucketIds = `{bkt_${accountId.slice("acct_".length)}}`;
      const moments = [expiresAt.toISOString(), clock.now().toISOString()];
      const fingerprint = hash("sha256", id, "base64url");
      await bareSession.query(bareInsert, [
        ...[id, accountId, "money", String(amount), bucketIds, `{${amount}}`, "open", "0", null, null, fingerprint],
        ...[null, null, null, cause.kind, cause.id, ...moments, null],
      ]);
    },
    async close(): Promise<void> {
      await bareSession.close();
      await ledger.close();
      await close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

function requireAnswer(kind: string, answer: { kind: string }): void {
  if (answer.kind !== kind) throw new Error(`The ledger answered ${answer.kind} instead of ${kind}.`);
}
