import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readBooks } from "../../src/features/books/index.ts";
import { applyTerms, bookPayment, issueDocuments } from "../../src/features/invoices/index.ts";
import { bookTopUp, findViolations } from "../../src/features/ledger/index.ts";
import { applyPaymentEvent } from "../../src/features/payments/external/apply-payment-event.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano, presentMoney } from "../../src/lib/money.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";

const cent = 10_000_000n;
const logger = createLogger({ level: "error", format: "json", write: () => {} });
const terms = `
seller: {name: Seller, address: Street 1, country: DE}
tax: [{country: "*", rate: 19}]
`;

let world: TestLedger;
let accountIds: AccountId[];

beforeAll(async () => {
  world = await openTestLedger();
  accountIds = await Promise.all([1, 2, 3].map(() => world.createAccount()));
  await applyTerms(world.parts, { source: terms, actor: "test" });
});
afterAll(() => world[Symbol.asyncDispose]());

/** A payment with its refunds, in cents, or one whose transaction does not commit. */
const anyPayment = fc.record({
  account: fc.nat({ max: 2 }),
  cents: fc.integer({ min: 1, max: 100_000 }),
  way: fc.constantFrom("event", "event twice", "operator", "rolled back", "killed"),
  refunds: fc.array(fc.integer({ min: 1, max: 60_000 }), { maxLength: 3 }),
});

type Payment = typeof anyPayment extends fc.Arbitrary<infer T> ? T : never;

async function make({ account, cents, way, refunds }: Payment): Promise<void> {
  const accountId = accountIds[account] ?? "acct_";
  const amount = nano(BigInt(cents) * cent);
  const paymentId = randomBytes(8).toString("hex");
  switch (way) {
    case "event":
    case "event twice": {
      const common = { payment_id: paymentId, currency: "USD" };
      const data = { ...common, account_id: accountId, amount: presentMoney(amount) };
      const pay = () => applyPaymentEvent({ ...world.parts, logger }, { type: "payment.succeeded", data });
      await Promise.all(way === "event" ? [pay()] : [pay(), pay()]);
      const returned = refunds.map((refund, index) => ({
        type: "payment.refunded" as const,
        data: { ...common, refund_id: String(index), amount: presentMoney(nano(BigInt(refund) * cent)) },
      }));
      await Promise.all(returned.map((event) => applyPaymentEvent({ ...world.parts, logger }, event)));
      return;
    }
    case "operator": {
      const request = { accountId, actor: "test", reason: "test", reference: paymentId };
      await bookPayment(world.parts, { ...request, booking: { kind: "top-up", amount } });
      return;
    }
    case "rolled back":
      return await expectFailure(fail(accountId, { amount, paymentId }, sql`select 1 / 0`));
    case "killed":
      return await expectFailure(
        fail(accountId, { amount, paymentId }, sql`select pg_terminate_backend(pg_backend_pid())`),
      );
  }
}

/** Credits a payment and issues its invoice, in a transaction that ends with a failing statement. */
async function fail(
  accountId: AccountId,
  { amount, paymentId }: { amount: ReturnType<typeof nano>; paymentId: string },
  failing: ReturnType<typeof sql>,
): Promise<void> {
  await world.database.transaction().execute(async (tx) => {
    const now = world.clock.now();
    const cause = { kind: "payment", id: paymentId } as const;
    await bookTopUp(tx, { id: `txn_${paymentId}`, accountId, amount, channel: "external", cause }, now);
    const payment = { id: paymentId, accountId, channel: "external", amount, currency: "USD", paidAt: now };
    await issueDocuments(tx, { ...payment, reversals: [] }, now);
    await failing.execute(tx);
  });
}

async function expectFailure(work: Promise<void>): Promise<void> {
  await expect(work).rejects.toThrow();
}

test("numbers have no gaps, and documents sum to the ledger, whatever commits, fails or is killed at once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyPayment, { minLength: 6, maxLength: 14 }), async (payments) => {
      await Promise.all(payments.map(make));
      expect(await findGaps()).toEqual([]);
      expect(await findDifferences()).toEqual([]);
      await expectBalancedBooks();
    }),
    { numRuns: 12, interruptAfterTimeLimit: 30_000, markInterruptAsFailure: false },
  );
  const now = world.clock.now();
  expect(await findViolations(world.database, { kind: "whole", accountIds: "all", now })).toEqual([]);
  const { rows } = await sql`select kind from billing_documents group by kind order by kind`.execute(world.database);
  expect(rows).toEqual([{ kind: "credit_note" }, { kind: "invoice" }]);
});

/** Series whose numbers are not 1 to their last one. */
async function findGaps(): Promise<unknown[]> {
  const { rows } = await sql`
    select series.kind, last_number from document_series series
      left join billing_documents document on (document.kind, document.prefix) = (series.kind, series.prefix)
      group by series.kind, series.prefix, last_number
      having count(*) <> last_number or min(document.number) <> 1 or max(document.number) <> last_number`.execute(
    world.database,
  );
  return rows;
}

/** Payments whose documents differ from the ledger: its credit, and the amounts taken back, owed or waived. */
async function findDifferences(): Promise<unknown[]> {
  const { rows } = await sql`
    with documented as (
      select payment_id, sum(total_nano) filter (where corrects is null) as invoiced,
          coalesce(sum(case kind when 'credit_note' then total_nano else -total_nano end)
            filter (where corrects is not null), 0) as credited
        from billing_documents where kind <> 'statement' group by payment_id),
    booked as (
      select case when cause_kind = 'operator' then id else cause_id end as payment_id, sum(amount) as paid
        from postings where kind = 'top_up' group by 1),
    reversed as (select cause_id as payment_id, sum(owed_nano) as owed from clawbacks group by cause_id)
    select * from documented full join booked using (payment_id) left join reversed using (payment_id)
      where invoiced is distinct from paid or credited <> coalesce(owed, 0)`.execute(world.database);
  return rows;
}

/** Debit equals credit, and the customers' credit is what their buckets contain. */
async function expectBalancedBooks(): Promise<void> {
  const balances: Record<string, bigint> = {};
  const period = { from: new Date("2020-01-01T00:00:00Z"), to: new Date("2040-01-01T00:00:00Z"), accountId: null };
  for await (const lines of readBooks(world.database, period)) {
    for (const { account, debit, credit } of lines) balances[account] = (balances[account] ?? 0n) + debit - credit;
  }
  expect(Object.values(balances).reduce((sum, balance) => sum + balance, 0n)).toBe(0n);
  const { rows } = await sql<{ posted: string; owed: string; tax: string }>`
    select (select sum(posted) from buckets)::text as posted,
      (select coalesce(sum(owed_nano - taken_nano), 0) from clawbacks)::text as owed,
      (select sum(case kind when 'credit_note' then -tax_nano else tax_nano end) from billing_documents)::text as tax`.execute(
    world.database,
  );
  expect(balances).toMatchObject({
    customer_credit: -BigInt(rows[0]?.posted ?? -1),
    tax_payable: -BigInt(rows[0]?.tax ?? -1),
  });
  expect(balances.customer_debt ?? 0n).toBe(BigInt(rows[0]?.owed ?? -1));
}
