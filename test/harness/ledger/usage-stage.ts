import { createLedger, type Ledger } from "../../../src/features/ledger/create-ledger.ts";
import { bookCredit, type CreditRequest } from "../../../src/features/ledger/index.ts";
import type { Cause, Unit } from "../../../src/features/ledger/ledger-state.ts";
import type { Bill } from "../../../src/lib/bill.ts";
import type { AccountId, HoldId } from "../../../src/lib/ids.ts";
import { type Nano, nano, parseMoney } from "../../../src/lib/money.ts";
import { writeCatalog } from "../catalog-source.ts";
import { visitorSettings } from "../site/site-visitor.ts";
import { createTestClock, type TestClock } from "../test-clock.ts";
import { createTestDatabase } from "../test-database.ts";
import { startGateway, type TestGateway } from "../test-gateway.ts";
import { waitUntil } from "../wait-until.ts";

export type UsageCaller = Awaited<ReturnType<TestGateway["createCaller"]>>;

/** Something to charge: usage of a model with a key. */
type Work = {
  accountId: AccountId;
  keyId?: string;
  model?: string;
  items?: Record<string, bigint>;
  rate?: string;
  per?: bigint;
  minimum?: string;
  held?: string;
  quota?: { kind: Exclude<Unit, "money">; units: bigint };
  cause?: Cause;
};

export type UsageStage = AsyncDisposable & {
  gateway: TestGateway;
  ledger: Ledger;
  clock: TestClock;
  /** Sets the clock, also to an earlier time. */
  setTime(moment: string | Date): void;
  hold(work: Work): Promise<HoldId>;
  /** Holds and settles; returns the charge's id. */
  charge(work: Work): Promise<string>;
  book(accountId: AccountId, booking: CreditRequest["booking"]): Promise<string>;
  applyPrices(prices: readonly Record<string, unknown>[]): Promise<void>;
  setTimeZone(accountId: AccountId, timeZone: string): Promise<void>;
  /** The body of a GET, which must be 200. */
  read<T>(path: string, key: string): Promise<T>;
};

export const usageModels = ["small", "large", "maker/picture"] as const;

const standardPrices = usageModels.map((model) => ({ model, input_price: "0.10", output_price: "0.20" }));

/** A gateway with a catalog, and a ledger beside it that charges on demand. */
export async function openUsageStage(): Promise<UsageStage> {
  const clock = createTestClock(new Date("2026-11-15T12:00:00Z"));
  const sharedDatabase = await createTestDatabase();
  const gateway = await startGateway({ clock, sharedDatabase, settings: visitorSettings });
  const address = { connectionString: sharedDatabase.url };
  const { database } = gateway;
  const ledger = createLedger({ database, address, clock, onTrouble: () => {} });

  async function applyPrices(prices: readonly Record<string, unknown>[]): Promise<void> {
    const outcome = await gateway.applyCatalog(writeCatalog({ models: usageModels.map((id) => ({ id })), prices }));
    if (outcome.kind === "refused") throw new Error(JSON.stringify(outcome.problems));
    await waitUntil("the catalog to be served", () => gateway.catalogVersion() === outcome.version);
  }

  async function findPriceId(model: string): Promise<string> {
    const query = database.selectFrom("prices").select("id").where("model_id", "=", model);
    return (await query.orderBy("created_at", "desc").executeTakeFirstOrThrow()).id;
  }

  async function hold({ accountId, keyId, quota, held = "1", cause }: Work): Promise<HoldId> {
    const id = gateway.parts.ids.next("hold");
    const result = await ledger.apply({
      kind: "hold",
      ...{ id, accountId, amount: toAmount(held), quota: quota ?? null, budget: null },
      ...(keyId === undefined ? {} : { keyId }),
      cause: cause ?? { kind: "request", id: `req_${id.slice(5)}` },
      expiresAt: new Date(clock.now().getTime() + 60 * 60_000),
    });
    if (result.kind !== "held") throw new Error(`The hold was not opened: ${result.kind}`);
    return id;
  }

  await applyPrices(standardPrices);
  return {
    gateway,
    ledger,
    clock,
    hold,
    applyPrices,
    setTime: (moment) => clock.advance(new Date(moment).getTime() - clock.now().getTime()),
    async charge(work) {
      const holdId = await hold(work);
      const { accountId, items = { output_tokens: 1n }, rate = "0.20", per = 1000n } = work;
      const bill: Bill = {
        priceId: await findPriceId(work.model ?? "small"),
        items: Object.entries(items).map(([name, quantity]) => ({ name, quantity, rate: toAmount(rate) })),
        per,
        minimum: toAmount(work.minimum ?? "0"),
        quotaUnits: work.quota?.units ?? 0n,
      };
      const end = { kind: "settle", accountId, holdId, bill, overrun: "take-available", budgetAmount: null } as const;
      const result = await ledger.apply(end);
      if (result.kind !== "settled") throw new Error(`The hold was not settled: ${result.kind}`);
      return `txn_${holdId.slice("hold_".length)}`;
    },
    async book(accountId, booking) {
      const request = { accountId, booking, actor: "ada of the house", reason: "an inner note", reference: null };
      return (await bookCredit(gateway.parts, request)).transactionId;
    },
    async setTimeZone(accountId, timeZone) {
      await database.updateTable("accounts").set({ time_zone: timeZone }).where("id", "=", accountId).execute();
    },
    async read<T>(path: string, key: string): Promise<T> {
      const response = await gateway.get(path, key);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
      return (path.includes("format=csv") ? text : JSON.parse(text)) as T;
    },
    async [Symbol.asyncDispose]() {
      await ledger.close();
      await gateway[Symbol.asyncDispose]();
      await sharedDatabase.close();
    },
  };
}

export function toAmount(text: string): Nano {
  return parseMoney(text) ?? nano(0n);
}
