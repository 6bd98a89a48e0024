import { bookPayment } from "../features/invoices/index.ts";
import { bookCredit, type CreditRequest, readBalance, requireLedgerCurrency } from "../features/ledger/index.ts";
import type { AccountId, TransactionId } from "../lib/ids.ts";
import { nano, parseMoney, presentMoney } from "../lib/money.ts";
import { quotaKinds } from "../lib/plan-terms.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command, CommandResult, Terminal } from "./command.ts";
import { getActor } from "./get-acting.ts";
import { createWrongValue, readTime } from "./option-values.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const creditOptions = {
  reason: { placeholder: "text", description: "The reason, stored with your user name.", isRequired: true },
  reference: {
    placeholder: "text",
    description: "An idempotency reference, such as a payment or case number. The same reference is booked once.",
  },
} satisfies Command["options"];

const addCommand: Command = {
  name: "credit add",
  summary: "Book a payment of an account's owner.",
  positionals: ["account id", "amount"],
  options: creditOptions,
  run: ({ positionals: [id = "", text = ""], options, terminal }) =>
    book(terminal, id, options, { kind: "top-up", amount: readAmount(text) }),
};

const grantCommand: Command = {
  name: "credit grant",
  summary: "Grant money or quota to an account, optionally with an expiry.",
  positionals: ["account id", "amount"],
  options: {
    ...creditOptions,
    unit: {
      placeholder: "word",
      description: `money, or a quota: ${quotaKinds.join(", ")}. Default: money.`,
    },
    expires: { placeholder: "time", description: "When it expires, such as 2027-01-01T00:00:00Z. Default: never." },
  },
  run: ({ positionals: [id = "", text = ""], options, terminal }) => {
    const unit = (["money", ...quotaKinds] as const).find((word) => word === (options.unit ?? "money"));
    if (unit === undefined) throw createWrongValue("unit", `money, ${quotaKinds.join(", ")}`);
    const amount = unit === "money" ? readAmount(text) : readUnits(text);
    const expiresAt = options.expires === undefined ? null : readTime(options.expires);
    return book(terminal, id, options, { kind: "grant", unit, amount, expiresAt });
  },
};

const adjustCommand: Command = {
  name: "credit adjust",
  summary: "Correct an account's cash up or down (-5.00), never below zero.",
  positionals: ["account id", "amount"],
  options: creditOptions,
  run: ({ positionals: [id = "", text = ""], options, terminal }) => {
    const amount = readAmount(text.replace(/^-/, ""));
    return book(terminal, id, options, { kind: "adjust", amount: text.startsWith("-") ? nano(-amount) : amount });
  },
};

const refundCommand: Command = {
  name: "credit refund",
  summary: "Refund a charge or part of it to the buckets it was paid from.",
  positionals: ["account id", "transaction id", "amount"],
  options: creditOptions,
  run: ({ positionals: [id = "", chargeId = "", text = ""], options, terminal }) => {
    const booking = { kind: "refund" as const, chargeId: chargeId as TransactionId, amount: readAmount(text) };
    return book(terminal, id, options, booking);
  },
};

export const creditCommands: readonly Command[] = [addCommand, grantCommand, adjustCommand, refundCommand];

export function readAmount(text: string): ReturnType<typeof nano> {
  const amount = parseMoney(text);
  if (amount !== null && amount > 0n) return amount;
  const message = "The amount must be a decimal above zero with at most nine places, such as 10.00.";
  throw new AppError("invalid_parameter", message, { param: "amount" });
}

function readUnits(text: string): bigint {
  if (/^\d{1,16}$/.test(text)) return BigInt(text);
  const message = "The amount of a quota must be a whole number of tokens, images or seconds.";
  throw new AppError("invalid_parameter", message, { param: "amount" });
}

function book(
  terminal: Terminal,
  accountId: string,
  options: Readonly<Record<string, string | undefined>>,
  booking: CreditRequest["booking"],
): Promise<CommandResult> {
  return withDatabase(terminal, async (database, { currency }) => {
    await requireLedgerCurrency(database, currency);
    const request = {
      accountId: accountId as AccountId,
      actor: getActor(),
      reason: options.reason ?? "",
      reference: options.reference ?? null,
    };
    const parts = { ...systemDependencies, database };
    const { transactionId, isReplay } =
      booking.kind === "top-up"
        ? await bookPayment({ ...parts, currency }, { ...request, booking })
        : await bookCredit(parts, { ...request, booking });
    const { balance } = await readBalance(database, accountId as AccountId, systemDependencies.clock.now());
    const available = presentMoney(balance.available);
    return {
      json: { id: transactionId, account: accountId, replayed: isReplay, available_balance: available },
      text: isReplay
        ? `Already booked as ${transactionId}. No changes. ${accountId} has ${available} ${currency} available.`
        : `Booked ${transactionId}. ${accountId} has ${available} ${currency} available.`,
    };
  });
}
