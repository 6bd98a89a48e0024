import type { AccountId, TransactionId } from "../../../lib/ids.ts";
import type { LimitSet } from "../../../lib/limit-set.ts";
import { presentMoney } from "../../../lib/money.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { type Account, type ApiKey, findAccount, findApiKey, revokeApiKey } from "../../accounts/index.ts";
import { appendAudit } from "../../audit/index.ts";
import { bookPayment } from "../../invoices/index.ts";
import {
  bookCredit,
  type CreditRequest,
  presentAmount,
  readBalance,
  requireLedgerCurrency,
} from "../../ledger/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { type Acting, nameActor } from "../edge/admin-caller.ts";
import { requireReason } from "../edge/reason.ts";

/** What every change needs: on which account, by whom and why. */
export type AccountAction = { accountId: AccountId; acting: Acting; reason: string };

export async function getAccount(database: Database, id: string): Promise<Account> {
  const account = await findAccount(database, id);
  if (account === null) throw new AppError("not_found", "There is no such account.", { param: "account_id" });
  return account;
}

/** Suspends, resumes, or changes plan and limits, with an audit entry of what changed. */
export async function changeAccountAsOperator(
  { database, changeAccount }: Pick<AdminDependencies, "database" | "changeAccount">,
  { accountId, acting, reason: text }: AccountAction,
  change: {
    action: "account.suspended" | "account.resumed" | "account.changed";
    isSuspended?: boolean;
    planId?: string | null;
    /** `null` removes a limit; an absent one stays. */
    limits?: { [L in keyof LimitSet]?: number | null };
  },
): Promise<Account> {
  const { action, limits, ...rest } = change;
  const reason = requireReason(text);
  return await inTransaction(database, async (tx) => {
    const before = await getAccount(tx, accountId);
    const merged = limits === undefined ? {} : { limits: mergeLimits(before.limits, limits) };
    const after = await changeAccount(tx, accountId, { ...rest, ...merged });
    await appendAudit(tx, {
      ...{ ...acting, action, subject: accountId, accountId, reason },
      ...{ before: describe(before), after: describe(after) },
    });
    return after;
  });
}

function mergeLimits(before: Partial<LimitSet>, change: { [L in keyof LimitSet]?: number | null }): Partial<LimitSet> {
  const kept = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept) as Partial<LimitSet>;
}

function describe({ planId, suspendedAt, limits }: Account) {
  return { plan: planId, suspended_at: suspendedAt?.toISOString() ?? null, limits };
}

/** Books credit, a grant, a correction or a refund, with an audit entry of both balances. A repeated reference books once. */
export async function bookAsOperator(
  { database, clock, ids, currency }: Pick<AdminDependencies, "database" | "clock" | "ids" | "currency">,
  { accountId, acting, reason }: AccountAction,
  { booking, reference }: Pick<CreditRequest, "booking" | "reference">,
): Promise<{ transactionId: TransactionId; isReplay: boolean }> {
  await requireLedgerCurrency(database, currency);
  return await inTransaction(database, async (tx) => {
    await getAccount(tx, accountId);
    const now = clock.now();
    const before = await readBalance(tx, accountId, now);
    const within = { database: tx, clock, ids };
    const request = { accountId, actor: nameActor(acting.actor), reason, reference };
    const booked =
      booking.kind === "top-up"
        ? await bookPayment({ ...within, currency }, { ...request, booking })
        : await bookCredit(within, { ...request, booking });
    if (booked.isReplay) return booked;
    const after = await readBalance(tx, accountId, now);
    await appendAudit(tx, {
      ...acting,
      ...{
        action: `credit.${actionNames[booking.kind]}`,
        subject: booked.transactionId,
        accountId,
        reason: reason.trim(),
      },
      before: describeBalance(before),
      after: { ...describeBalance(after), ...describeBooking(booking), reference },
    });
    return booked;
  });
}

const actionNames: Record<CreditRequest["booking"]["kind"], string> = {
  "top-up": "added",
  grant: "granted",
  adjust: "adjusted",
  refund: "refunded",
};

function describeBalance({ balance }: Awaited<ReturnType<typeof readBalance>>) {
  const { available, cash, gift, quotas } = balance;
  return { available: presentMoney(available), cash: presentMoney(cash), gift: presentMoney(gift), quotas };
}

function describeBooking(booking: CreditRequest["booking"]) {
  switch (booking.kind) {
    case "grant": {
      const { unit, expiresAt } = booking;
      return { amount: presentAmount(unit, booking.amount), unit, expires_at: expiresAt?.toISOString() ?? null };
    }
    case "refund":
      return { amount: presentAmount("money", booking.amount), charge: booking.chargeId };
    case "top-up":
    case "adjust":
      return { amount: presentMoney(booking.amount) };
  }
}

/** Revokes a key of the account for good. */
export async function revokeKeyAsOperator(
  { database, clock }: Pick<AdminDependencies, "database" | "clock">,
  { accountId, acting, reason: text }: AccountAction,
  keyId: string,
): Promise<ApiKey> {
  const reason = requireReason(text);
  return await inTransaction(database, async (tx) => {
    const before = await findApiKey(tx, keyId);
    if (before === null || before.accountId !== accountId) {
      throw new AppError("not_found", "The account has no such API key.", { param: "key_id" });
    }
    const revoked = await revokeApiKey({ database: tx, clock }, keyId);
    if (before.revokedAt !== null) return revoked;
    await appendAudit(tx, {
      ...{ ...acting, action: "key.revoked", subject: keyId, accountId, reason },
      ...{ before: { name: before.name }, after: null },
    });
    return revoked;
  });
}
