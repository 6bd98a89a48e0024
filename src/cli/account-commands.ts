import {
  type Account,
  type ApiKey,
  createAccount,
  findAccount,
  listAccounts,
  listApiKeys,
} from "../features/accounts/index.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command } from "./command.ts";
import { presentKeyJson, presentKeyRows } from "./key-commands.ts";
import { presentRows } from "./present-rows.ts";
import { systemParts } from "./system-parts.ts";
import { withDatabase } from "./with-database.ts";

const createCommand: Command = {
  name: "account create",
  summary: "Creates an account.",
  options: {
    email: { placeholder: "address", explains: "The owner's e-mail address.", isRequired: true },
    password: {
      placeholder: "text",
      explains: "A password to sign in with; - reads it from standard input, out of sight of other processes.",
    },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const password = options.password === "-" ? (await terminal.readInput()).replace(/\r?\n$/, "") : options.password;
      const account = await createAccount(
        { ...systemParts, database },
        { email: options.email ?? "", password: password ?? null },
      );
      return {
        json: presentAccountJson(account),
        text: `Created ${account.id} for ${account.email}.\nGive it a key: npm run -s sluice -- key create --account ${account.id}`,
      };
    }),
};

const listCommand: Command = {
  name: "account list",
  summary: "Lists all accounts.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const accounts = await listAccounts(database);
      const rows = accounts.map(({ id, email, createdAt }) => [id, email, createdAt.toISOString()]);
      return {
        json: accounts.map(presentAccountJson),
        text:
          accounts.length === 0
            ? "There are no accounts yet. Create one: npm run -s sluice -- account create --email <address>"
            : presentRows(["ID", "EMAIL", "CREATED"], rows),
      };
    }),
};

const showCommand: Command = {
  name: "account show",
  summary: "Shows an account and its keys.",
  positionals: ["account id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const account = await findAccount(database, id);
      if (account === null) throw new AppError("not_found", `There is no account ${id}.`);
      const keys = await listApiKeys(database, { accountId: account.id });
      return {
        json: { ...presentAccountJson(account), keys: keys.map(presentKeyJson) },
        text: presentAccount(account, keys),
      };
    }),
};

export const accountCommands: readonly Command[] = [createCommand, listCommand, showCommand];

function presentAccount(account: Account, keys: readonly ApiKey[]): string {
  return [
    `${account.id}  ${account.email}`,
    `created ${account.createdAt.toISOString()}, ${account.hasPassword ? "signs in with a password" : "without a password"}`,
    "",
    keys.length === 0 ? "No keys." : presentKeyRows(keys),
  ].join("\n");
}

function presentAccountJson(account: Account): Record<string, unknown> {
  return {
    id: account.id,
    email: account.email,
    has_password: account.hasPassword,
    created_at: account.createdAt.toISOString(),
  };
}
