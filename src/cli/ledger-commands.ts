import { findAccount } from "../features/accounts/index.ts";
import {
  type CheckOutcome,
  type Coverage,
  checkAccounts,
  checkEverything,
  checkSinceSeals,
  computeDebt,
  findFreeze,
  findViolations,
  invariants,
  listDebts,
  listStatement,
  readBalance,
  unfreezeWallet,
  type Violation,
} from "../features/ledger/index.ts";
import type { AccountId } from "../lib/ids.ts";
import { presentMoney } from "../lib/money.ts";
import { quotaKinds } from "../lib/plan-terms.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command, CommandResult } from "./command.ts";
import { createWrongValue, readNumber, readTime } from "./option-values.ts";
import { presentEntryJson, presentStatementCsv, presentStatementText } from "./present-statement.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const entriesMax = 1_000_000;
const defaultLimit = "1000";

const showCommand: Command = {
  name: "ledger show",
  summary: "Print an account's statement: every entry with its cause and balance.",
  positionals: ["account id"],
  options: {
    format: { placeholder: "word", description: "table or csv. Default: table. Use --json for JSON." },
    from: { placeholder: "time", description: "Only entries from this time on." },
    to: { placeholder: "time", description: "Only entries before this time." },
    limit: { placeholder: "number", description: `The maximum number, newest entries. Default: ${defaultLimit}.` },
  },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      const format = (["table", "csv"] as const).find((word) => word === (options.format ?? "table"));
      if (format === undefined) throw createWrongValue("format", "table or csv");
      const limit = readNumber("limit", options.limit ?? defaultLimit);
      if (limit < 1 || limit > entriesMax) throw createWrongValue("limit", `a number from 1 to ${entriesMax}`);
      const accountId = await requireAccount(database, id);
      const { balance, period } = await readBalance(database, accountId, systemDependencies.clock.now());
      const freeze = await findFreeze(database, accountId);
      const debts = await listDebts(database, accountId);
      const entries = await listStatement(database, accountId, {
        from: options.from === undefined ? null : readTime(options.from, "from"),
        to: options.to === undefined ? null : readTime(options.to, "to"),
        limit,
      });
      const amounts = {
        available: presentMoney(balance.available),
        frozen: presentMoney(balance.frozen),
        cash: presentMoney(balance.cash),
        gift: presentMoney(balance.gift),
      };
      const heading = [
        `${accountId}: ${amounts.available} ${currency} available, ${amounts.frozen} ${currency} on hold; cash ${amounts.cash} ${currency}, gift ${amounts.gift} ${currency}`,
        `quotas: ${quotaKinds.map((kind) => `${kind} ${balance.quotas[kind]}`).join(", ")}; plan: ${period === null ? "none" : `${period.planName} until ${period.endsAt.toISOString()}`}`,
        ...(freeze === null
          ? []
          : [`FROZEN for spending since ${freeze.at.toISOString()}, invariant violated: ${freeze.reason}`]),
        ...debts.map(
          (debt) =>
            `FROZEN for spending since ${debt.createdAt.toISOString()}: ${presentMoney(computeDebt(debt))} ${currency} owed for ${debt.cause.id} (${debt.cause.kind} ${debt.id})`,
        ),
      ].join("\n");
      const table = entries.length === 0 ? "No entries." : presentStatementText(entries, currency);
      return {
        json: {
          account: accountId,
          currency,
          balance: { ...amounts, quotas: mapValues(balance.quotas) },
          plan: period === null ? null : { name: period.planName, expires_at: period.endsAt.toISOString() },
          debts: debts.map((debt) => ({
            id: debt.id,
            amount: presentMoney(computeDebt(debt)),
            cause: debt.cause,
            created_at: debt.createdAt.toISOString(),
          })),
          freeze: freeze === null ? null : { at: freeze.at.toISOString(), reason: freeze.reason },
          entries: entries.map(presentEntryJson),
        },
        text: format === "csv" ? presentStatementCsv(entries) : `${heading}\n\n${table}`,
      };
    }),
};

const verifyCommand: Command = {
  name: "ledger verify",
  summary: "Verify the ledger's invariants. Accounts with a violation are frozen for spending.",
  options: {
    account: { placeholder: "account id", description: "Verify this account completely. Default: all accounts." },
    whole: {
      placeholder: null,
      description: "Verify all entries, not only those since the last check. Gateways do so every night.",
    },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const now = systemDependencies.clock.now();
      if (options.account !== undefined) {
        const accountIds = [await requireAccount(database, options.account)];
        const { violations } = await checkAccounts(database, { kind: "whole", accountIds, now });
        return presentVerdict(violations, { where: " for this account" });
      }
      const found: Violation[] = [];
      const onFound = ({ violations }: CheckOutcome): void => void found.push(...violations);
      const isWhole = options.whole !== undefined;
      const covered = isWhole
        ? await checkEverything(database, { now, onFound, place: "own" })
        : await checkSinceSeals(database, { now, onFound });
      return presentVerdict(found, { where: "", isWhole, covered });
    }),
};

const unfreezeCommand: Command = {
  name: "ledger unfreeze",
  summary: "Unfreeze an account, if its invariants hold now.",
  positionals: ["account id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const accountId = await requireAccount(database, id);
      const now = systemDependencies.clock.now();
      const violations = await findViolations(database, { kind: "whole", accountIds: [accountId], now });
      const json = { ok: violations.length === 0, violations: violations.map(presentViolationJson) };
      if (violations.length > 0) return { json, text: presentViolations(violations), hasFailed: true };
      const wasFrozen = await unfreezeWallet(database, accountId);
      const [debt] = await listDebts(database, accountId);
      if (debt !== undefined) {
        const text = `${accountId} still owes money for ${debt.cause.id}. See payment show, or waive it with payment waive.`;
        return { json: { ...json, ok: false }, text, hasFailed: true };
      }
      return { json, text: wasFrozen ? `Unfroze ${accountId}.` : `${accountId} was not frozen.` };
    }),
};

export const ledgerCommands: readonly Command[] = [showCommand, verifyCommand, unfreezeCommand];

async function requireAccount(database: Database, id: string): Promise<AccountId> {
  const account = await findAccount(database, id);
  if (account === null)
    throw new AppError("not_found", `There is no account ${id}. List them: npm run -s sluice -- account list`, {
      param: "account",
    });
  return account.id;
}

function presentVerdict(
  violations: readonly Violation[],
  { where, isWhole, covered }: { where: string; isWhole?: boolean; covered?: Coverage | null },
): CommandResult {
  const json = {
    ok: violations.length === 0,
    violations: violations.map(presentViolationJson),
    ...(covered ? { covered: { ...covered, entries: Number(covered.entries), whole: isWhole === true } } : {}),
  };
  if (violations.length > 0) return { json, text: presentViolations(violations), hasFailed: true };
  const holds = `All ${invariants.length} invariants hold${where}.`;
  if (!covered) return { json, text: holds };
  const { accounts, entries } = covered;
  const read = isWhole ? `all ${entries} entries and ${covered.holds} holds` : `${entries} unchecked entries`;
  return { json, text: `${holds} Verified ${read} of ${accounts} accounts.` };
}

function presentViolations(violations: readonly Violation[]): string {
  const promises = new Map(invariants.map(({ name, promise }) => [name, promise]));
  const lines = violations.map(
    ({ invariant, accountId, message }) => `✗ ${invariant}  ${accountId}  ${message}\n     ${promises.get(invariant)}`,
  );
  return [...lines, "", "The accounts are frozen for spending. See docs/operating/money.md."].join("\n");
}

function presentViolationJson({ invariant, accountId, message }: Violation): Record<string, string> {
  return { invariant, account: accountId, message };
}

function mapValues(quotas: Readonly<Record<string, bigint>>): Record<string, number> {
  return Object.fromEntries(Object.entries(quotas).map(([kind, units]) => [kind, Number(units)]));
}
