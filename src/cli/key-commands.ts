import { type ApiKey, createApiKey, listApiKeys, revokeApiKey } from "../features/accounts/index.ts";
import type { Command } from "./command.ts";
import { keepSecret } from "./keep-secret.ts";
import { presentRows } from "./present-rows.ts";
import { systemParts } from "./system-parts.ts";
import { withDatabase } from "./with-database.ts";

const createCommand: Command = {
  name: "key create",
  summary: "Creates an API key and shows it, this once.",
  options: {
    account: { placeholder: "account id", explains: "The account that the key belongs to.", isRequired: true },
    name: { placeholder: "text", explains: "What the key is for; without it: default." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const { apiKey, text } = await createApiKey(
        { ...systemParts, database },
        { accountId: options.account ?? "", name: options.name ?? "default" },
      );
      if (terminal.isJson) return { json: { ...presentKeyJson(apiKey), key: text }, text: "" };
      const place = terminal.isTerminal
        ? `${text}\nKeep it now: it is not shown again.`
        : `It is in ${keepSecret(settings.data_dir, apiKey.id, text)}, because this is not a terminal.`;
      return { json: null, text: `Created ${apiKey.id} (${apiKey.name}) for ${apiKey.accountId}.\n\n${place}` };
    }),
};

const listCommand: Command = {
  name: "key list",
  summary: "Lists API keys, of all accounts or of one.",
  options: { account: { placeholder: "account id", explains: "Only the keys of this account." } },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const keys = await listApiKeys(database, options.account === undefined ? {} : { accountId: options.account });
      return {
        json: keys.map(presentKeyJson),
        text: keys.length === 0 ? "There are no keys." : presentKeyRows(keys),
      };
    }),
};

const revokeCommand: Command = {
  name: "key revoke",
  summary: "Ends an API key at once and for good.",
  positionals: ["key id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const apiKey = await revokeApiKey({ ...systemParts, database }, id);
      return { json: presentKeyJson(apiKey), text: `Revoked ${apiKey.id} (${apiKey.name}).` };
    }),
};

export const keyCommands: readonly Command[] = [createCommand, listCommand, revokeCommand];

export function presentKeyRows(keys: readonly ApiKey[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.accountId,
    key.name,
    `sk-slc-…${key.lastFour}`,
    key.revokedAt === null ? "active" : `revoked ${key.revokedAt.toISOString()}`,
  ]);
  return presentRows(["ID", "ACCOUNT", "NAME", "KEY", "STATE"], rows);
}

export function presentKeyJson(key: ApiKey): Record<string, unknown> {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    last_four: key.lastFour,
    created_at: key.createdAt.toISOString(),
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
