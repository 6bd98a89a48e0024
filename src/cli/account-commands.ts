import { changeAccount, openAccount } from "../app/change-account.ts";
import { type Account, type ApiKey, findAccount, listAccounts, listApiKeys } from "../features/accounts/index.ts";
import { readBalance, requireLedgerCurrency } from "../features/ledger/index.ts";
import { findUserOfAccount, hashPassword, listUsers, requireGoodPassword, type User } from "../features/site/index.ts";
import { presentMoney } from "../lib/money.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command, CommandResult, Terminal } from "./command.ts";
import { readAmount } from "./credit-commands.ts";
import { getActor } from "./get-acting.ts";
import { presentKeyJson, presentKeyRows } from "./key-commands.ts";
import { limitOptions, readLimits } from "./option-values.ts";
import { presentLimits, presentLimitsJson } from "./present-limits.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const createCommand: Command = {
  name: "account create",
  summary: "Create an account.",
  options: {
    email: { placeholder: "address", description: "The owner's e-mail address.", isRequired: true },
    password: {
      placeholder: "text",
      description: "The password to sign in with. Use - to read it from standard input, hidden from other processes.",
    },
    plan: { placeholder: "plan id", description: "The plan of the account." },
    credit: { placeholder: "amount", description: "The initial credit, such as 10.00." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      if (options.credit !== undefined) await requireLedgerCurrency(database, settings.currency);
      const password = options.password === "-" ? (await terminal.readInput()).replace(/\r?\n$/, "") : options.password;
      const email = options.email ?? "";
      const passwordHash = password === undefined ? null : await hashGoodPassword(password, email);
      const account = await openAccount(
        { ...systemDependencies, database },
        {
          email,
          person: { passwordHash, isEmailVerified: false },
          ...(options.plan === undefined ? {} : { planId: options.plan }),
          ...(options.credit === undefined ? {} : { credit: describeFirstCredit(options.credit) }),
        },
      );
      return {
        json: presentAccountJson(account, { hasPassword: passwordHash !== null }),
        text: `Created ${account.id} for ${account.email}.\nCreate a key: npm run -s sluice -- key create --account ${account.id}`,
      };
    }),
};

const listCommand: Command = {
  name: "account list",
  summary: "List all accounts.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const accounts = await listAccounts(database);
      const users = await listUsers(database);
      const withPassword = new Set(users.filter(hasPassword).map(({ accountId }) => accountId));
      const rows = accounts.map(({ id, email, planId, suspendedAt, createdAt }) => [
        id,
        email,
        planId ?? "-",
        suspendedAt === null ? "active" : "suspended",
        createdAt.toISOString(),
      ]);
      return {
        json: accounts.map((account) => presentAccountJson(account, { hasPassword: withPassword.has(account.id) })),
        text:
          accounts.length === 0
            ? "No accounts. Create one: npm run -s sluice -- account create --email <address>"
            : presentRows(["ID", "EMAIL", "PLAN", "STATE", "CREATED"], rows),
      };
    }),
};

const showCommand: Command = {
  name: "account show",
  summary: "Show an account and its keys.",
  positionals: ["account id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      const account = await getAccount(database, id);
      const keys = await listApiKeys(database, { accountId: account.id });
      const { balance } = await readBalance(database, account.id, systemDependencies.clock.now());
      const available = presentMoney(balance.available);
      const signIn = await readSignIn(database, account);
      return {
        json: { ...presentAccountJson(account, signIn), available_balance: available, keys: keys.map(presentKeyJson) },
        text: presentAccount(account, { keys, available: `${available} ${currency}`, ...signIn }),
      };
    }),
};

const updateCommand: Command = {
  name: "account update",
  summary: "Change an account's plan and limits.",
  positionals: ["account id"],
  options: { plan: { placeholder: "plan id", description: "The plan, or none." }, ...limitOptions },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const current = await getAccount(database, id);
      const account = await changeAccount({ ...systemDependencies, database }, id, {
        limits: readLimits(options, current.limits),
        ...(options.plan === undefined ? {} : { planId: options.plan === "none" ? null : options.plan }),
      });
      return { json: presentAccountJson(account, await readSignIn(database, account)), text: `Updated ${account.id}.` };
    }),
};

const suspendCommand: Command = {
  name: "account suspend",
  summary: "Reject all calls of an account until you resume it.",
  positionals: ["account id"],
  run: ({ positionals: [id = ""], terminal }) => setSuspension(id, true, terminal),
};

const resumeCommand: Command = {
  name: "account resume",
  summary: "Accept calls of a suspended account again.",
  positionals: ["account id"],
  run: ({ positionals: [id = ""], terminal }) => setSuspension(id, false, terminal),
};

export const accountCommands: readonly Command[] = [
  createCommand,
  listCommand,
  showCommand,
  updateCommand,
  suspendCommand,
  resumeCommand,
];

function setSuspension(id: string, isSuspended: boolean, terminal: Terminal): Promise<CommandResult> {
  return withDatabase(terminal, async (database) => {
    const account = await changeAccount({ ...systemDependencies, database }, id, { isSuspended });
    const text = `${isSuspended ? "Suspended" : "Resumed"} ${account.id}.`;
    return { json: presentAccountJson(account, await readSignIn(database, account)), text };
  });
}

function describeFirstCredit(text: string) {
  return {
    booking: { kind: "top-up" as const, amount: readAmount(text) },
    actor: getActor(),
    reason: "initial credit",
    reference: null,
  };
}

async function getAccount(database: Database, id: string): Promise<Account> {
  const account = await findAccount(database, id);
  if (account === null)
    throw new AppError("not_found", `There is no account ${id}. List them: npm run -s sluice -- account list`);
  return account;
}

type OwnerSignIn = { hasPassword: boolean };

async function readSignIn(database: Database, { id }: Account): Promise<OwnerSignIn> {
  const user = await findUserOfAccount(database, id);
  return { hasPassword: user !== null && hasPassword(user) };
}

function hasPassword({ passwordHash }: User): boolean {
  return passwordHash !== null;
}

async function hashGoodPassword(password: string, email: string): Promise<string> {
  requireGoodPassword(password, { email, param: "password" });
  return await hashPassword(password);
}

function presentAccount(
  account: Account,
  { keys, available, hasPassword }: OwnerSignIn & { keys: readonly ApiKey[]; available: string },
): string {
  const state = account.suspendedAt === null ? "active" : `suspended since ${account.suspendedAt.toISOString()}`;
  return [
    `${account.id}  ${account.email}  ${state}`,
    `created ${account.createdAt.toISOString()}, ${hasPassword ? "has a password" : "has no password"}`,
    `available: ${available}, statement: npm run -s sluice -- ledger show ${account.id}`,
    `plan ${account.planId ?? "none"}, own limits: ${presentLimits(account.limits)}`,
    "",
    keys.length === 0 ? "No keys." : presentKeyRows(keys),
  ].join("\n");
}

function presentAccountJson(account: Account, { hasPassword }: OwnerSignIn): Record<string, unknown> {
  return {
    id: account.id,
    email: account.email,
    has_password: hasPassword,
    plan: account.planId,
    suspended_at: account.suspendedAt?.toISOString() ?? null,
    limits: presentLimitsJson(account.limits),
    created_at: account.createdAt.toISOString(),
  };
}
