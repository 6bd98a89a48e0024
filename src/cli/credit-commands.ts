import { userInfo } from "node:os";
import { bookCredit, type CreditRequest, readBalance, requireLedgerCurrency } from "../features/ledger/index.ts";
import type { AccountId, TransactionId } from "../lib/ids.ts";
import { nano, parseMoney, presentMoney } from "../lib/money.ts";
import { quotaKinds } from "../lib/plan-terms.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command, CommandResult, Terminal } from "./command.ts";
import { createWrongValue, readTime } from "./option-values.ts";
import { systemParts } from "./system-parts.ts";
import { withDatabase } from "./with-database.ts";

const creditOptions = {
  reason: { placeholder: "text", explains: "Why: it is kept with your user name.", isRequired: true },
  reference: {
    placeholder: "text",
    explains: "A payment's or case's own number: what has the same one is booked once, however often it is sent.",
  },
} satisfies Command["options"];

const addCommand: Command = {
  name: "credit add",
  summary: "Books money that an account's owner has paid.",
  positionals: ["account id", "amount"],
  options: creditOptions,
  run: ({ positionals: [id = "", text = ""], options, terminal }) =>
    book(terminal, id, options, { kind: "top-up", amount: readAmount(text) }),
};

const grantCommand: Command = {
  name: "credit grant",
  summary: "Gives an account money or quota, for some time or for good.",
  positionals: ["account id", "amount"],
  options: {
    ...creditOptions,
    unit: {
      placeholder: "word",
      explains: `What is given: money, or ${quotaKinds.join(", ")} for a quota; without it: money.`,
    },
    expires: { placeholder: "time", explains: "When it ends, such as 2027-01-01T00:00:00Z; without it: never." },
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
  summary: "Corrects an account's cash, up or down (-5.00), never below zero.",
  positionals: ["account id", "amount"],
  options: creditOptions,
  run: ({ positionals: [id = "", text = ""], options, terminal }) => {
    const amount = readAmount(text.replace(/^-/, ""));
    return book(terminal, id, options, { kind: "adjust", amount: text.startsWith("-") ? nano(-amount) : amount });
  },
};

const refundCommand: Command = {
  name: "credit refund",
  summary: "Refunds a charge or a part of it, to where it came from.",
  positionals: ["account id", "transaction id", "amount"],
  options: creditOptions,
  run: ({ positionals: [id = "", chargeId = "", text = ""], options, terminal }) => {
    const booking = { kind: "refund" as const, chargeId: chargeId as TransactionId, amount: readAmount(text) };
    return book(terminal, id, options, booking);
  },
};

export const creditCommands: readonly Command[] = [addCommand, grantCommand, adjustCommand, refundCommand];

/** Who works at this machine: what operators do to money is kept with their name. */
export function getActor(): string {
  return userInfo().username;
}

export function readAmount(text: string): ReturnType<typeof nano> {
  const amount = parseMoney(text);
  if (amount !== null && amount > 0n) return amount;
  const message = "An amount is a decimal above zero with at most nine places, such as 10.00.";
  throw new AppError("invalid_parameter", message, { param: "amount" });
}

function readUnits(text: string): bigint {
  if (/^\d{1,16}$/.test(text)) return BigInt(text);
  const message = "A quota's amount is a whole number of tokens, images or seconds.";
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
    const { transactionId, isReplay } = await bookCredit(
      { ...systemParts, database },
      {
        accountId: accountId as AccountId,
        booking,
        actor: getActor(),
        reason: options.reason ?? "",
        reference: options.reference ?? null,
      },
    );
    const { balance } = await readBalance(database, accountId as AccountId, systemParts.clock.now());
    const available = presentMoney(balance.available);
    return {
      json: { id: transactionId, account: accountId, replayed: isReplay, available_balance: available },
      text: isReplay
        ? `${transactionId} was booked before; nothing changed. ${accountId} has ${available} ${currency} available.`
        : `Booked ${transactionId}. ${accountId} has ${available} ${currency} available.`,
    };
  });
}
