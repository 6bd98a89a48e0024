import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { closePeriod, type PeriodSums, type PostingKind } from "../ledger/index.ts";
import { type Buyer, type DocumentContent, deriveDocumentId } from "./billing-document.ts";
import { findFirstTerms, findTerms, insertDocument, takeNumber } from "./document-store.ts";
import { findPrefix, type InvoiceTerms, presentNumber } from "./invoice-terms.ts";
import { readBuyer } from "./issue-documents.ts";
import {
  findStatementMonth,
  hasStatement,
  listAccountIds,
  putStatementMonth,
  sumUsageByModel,
  type UsageLine,
} from "./monthly-statement-store.ts";
import { describeSeller } from "./write-content.ts";

type Dependencies = { database: Database; clock: Clock; currency: string };

/** Calls of the last minutes end, and gateways' clocks agree, before a month is closed. */
const graceMs = 60 * 60_000;
const accountsAtOnce = 500;
/** After a long stop, older months stay without statements. */
const monthsBackMax = 12;

/**
 * Issues the statements of months that have ended, since the month of the first terms. Each account is a transaction of its
 * own, and a month continues where an interrupted run stopped.
 */
export async function issueStatements({ database, clock, currency }: Dependencies, signal: AbortSignal): Promise<void> {
  const applied = await findTerms(database);
  const first = await findFirstTerms(database);
  if (applied === null || first === null) return;
  const { terms } = applied;
  for (const month of listEndedMonths(first.appliedAt, new Date(clock.now().getTime() - graceMs))) {
    const progress = await findStatementMonth(database, month);
    if (progress?.isDone === true) continue;
    let after = progress?.doneUntil ?? "";
    while (!signal.aborted) {
      const accountIds = await listAccountIds(database, { after, limit: accountsAtOnce });
      for (const accountId of accountIds) {
        if (signal.aborted) return;
        await database.transaction().execute(async (tx) => {
          await issueStatement(tx, { accountId, month, terms, currency, now: clock.now() });
          await putStatementMonth(tx, month, { doneUntil: accountId, isDone: false });
        });
        after = accountId;
      }
      if (accountIds.length < accountsAtOnce) {
        await putStatementMonth(database, month, { doneUntil: after, isDone: true });
        break;
      }
    }
  }
}

/** From the month of `since` to the one before `until`, oldest first. */
function listEndedMonths(since: Date, until: Date): string[] {
  const months: string[] = [];
  for (let back = 1; back <= monthsBackMax; back += 1) {
    const start = new Date(Date.UTC(until.getUTCFullYear(), until.getUTCMonth() - back, 1));
    if (findMonthEnd(start) <= since) break;
    months.unshift(start.toISOString().slice(0, 7));
  }
  return months;
}

function findMonthEnd(start: Date): Date {
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
}

type Asked = { accountId: AccountId; month: string; terms: InvoiceTerms; currency: string; now: Date };

/** Accounts without an entry in the month get no statement. */
async function issueStatement(tx: Database, { accountId, month, terms, currency, now }: Asked): Promise<void> {
  const from = new Date(`${month}-01T00:00:00Z`);
  const period = { from, to: findMonthEnd(from) };
  const sums = await closePeriod(tx, accountId, period);
  // Under the wallet's lock: another run may have issued it meanwhile.
  if (sums.changes.size === 0 || (await hasStatement(tx, accountId, month))) return;
  const usage = await sumUsageByModel(tx, accountId, period);
  const used = usage.reduce((sum, { paid }) => sum + paid, 0n);
  invariant(used === -(sums.changes.get("charge") ?? 0n), `the usage of ${accountId} in ${month} is not what it paid`);
  const buyer = await readBuyer(tx, accountId);
  const prefix = findPrefix(terms, "statement", now);
  const number = await takeNumber(tx, "statement", prefix);
  await insertDocument(tx, {
    ...{ accountId, prefix, number, currency, month, kind: "statement" },
    id: deriveDocumentId("statement", presentNumber({ prefix, number })),
    issuedAt: now,
    total: sums.closing,
    tax: nano(0n),
    ...{ paymentId: null, channel: null, corrects: null, reversalId: null },
    content: writeStatement({ terms, buyer, month, sums, usage }),
  });
}

/** Every kind of entry but charges, which are listed by model. */
const changeNames: readonly (readonly [PostingKind, string])[] = [
  ["top_up", "Payments and redeemed codes"],
  ["grant", "Gifts"],
  ["refund", "Refunded charges"],
  ["adjustment", "Corrections"],
  ["reversal", "Refunded and disputed payments"],
  ["expiry", "Expired gifts"],
];

type Written = { terms: InvoiceTerms; buyer: Buyer; month: string; sums: PeriodSums; usage: readonly UsageLine[] };

function writeStatement({ terms, buyer, month, sums, usage }: Written): DocumentContent {
  const charged = sums.changes.get("charge") ?? nano(0n);
  const usageLines = usage.map(({ model, calls, paid }) => ({
    text: `${model}, ${calls} ${calls === 1n ? "call" : "calls"}`,
    amount: String(-paid),
  }));
  const changes = changeNames.flatMap(([kind, text]) => {
    const amount = sums.changes.get(kind) ?? 0n;
    return amount === 0n ? [] : [{ text, amount: String(amount) }];
  });
  return {
    layout: 1,
    title: "Statement",
    seller: describeSeller(terms),
    buyer,
    facts: [{ name: "Month", value: `${month} (UTC)` }],
    lines: [
      { text: "Balance at the beginning", amount: String(sums.opening), isSum: true },
      ...changes,
      ...usageLines,
      ...(usageLines.length > 1 ? [{ text: "Usage, in total", amount: String(charged), isSum: true as const }] : []),
    ],
    tax: null,
    totalName: "Balance at the end",
    total: String(sums.closing),
    remark:
      "This is not an invoice: each payment has its own. Amounts include any tax that was invoiced with the payments.",
    footer: terms.footer ?? null,
  };
}
