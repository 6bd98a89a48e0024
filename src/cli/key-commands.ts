import {
  type ApiKey,
  createApiKey,
  findApiKey,
  findKeyKind,
  listApiKeys,
  revokeApiKey,
  unrestricted,
  updateApiKey,
} from "../features/accounts/index.ts";
import { findCatalog } from "../features/catalog/index.ts";
import { presentMoney } from "../lib/money.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command } from "./command.ts";
import { readRestrictions, restrictionOptions } from "./option-values.ts";
import { presentLimitsJson } from "./present-limits.ts";
import { presentRows } from "./present-rows.ts";
import { saveSecret } from "./save-secret.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const createCommand: Command = {
  name: "key create",
  summary: "Create an API key. It is shown once.",
  options: {
    account: { placeholder: "account id", description: "The account of the key.", isRequired: true },
    name: { placeholder: "text", description: "A name for the key. Default: default." },
    ...restrictionOptions,
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const { apiKey, text } = await createApiKey(await gatherDependencies(database), {
        accountId: options.account ?? "",
        name: options.name ?? "default",
        ...readRestrictions(options, unrestricted),
      });
      if (terminal.isJson) return { json: { ...presentKeyJson(apiKey), key: text }, text: "" };
      const place = terminal.isTerminal
        ? `${text}\nSave it now: it is not shown again.`
        : `Saved to ${saveSecret(settings.data_dir, apiKey.id, text)} (standard output is not a terminal).`;
      return { json: null, text: `Created ${apiKey.id} (${apiKey.name}) for ${apiKey.accountId}.\n\n${place}` };
    }),
};

const listCommand: Command = {
  name: "key list",
  summary: "List API keys of all accounts or one.",
  options: { account: { placeholder: "account id", description: "Only keys of this account." } },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const keys = await listApiKeys(database, options.account === undefined ? {} : { accountId: options.account });
      return {
        json: keys.map(presentKeyJson),
        text: keys.length === 0 ? "No keys." : presentKeyRows(keys),
      };
    }),
};

const showCommand: Command = {
  name: "key show",
  summary: "Show an API key and its restrictions.",
  positionals: ["key id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      const apiKey = await getKey(database, id);
      const json = presentKeyJson(apiKey);
      const { budget } = apiKey;
      const shown = {
        ...json,
        budget: budget === null ? null : `${presentMoney(budget.amount)} ${currency} (${budget.period})`,
      };
      const lines = Object.entries(shown).map(([name, value]) => [name, presentValue(value)]);
      return { json, text: presentRows(["FIELD", "VALUE"], lines) };
    }),
};

const updateCommand: Command = {
  name: "key update",
  summary: "Change an API key's restrictions. Gateways apply it within a second.",
  positionals: ["key id"],
  options: { name: { placeholder: "text", description: "A name for the key." }, ...restrictionOptions },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const current = await getKey(database, id);
      const apiKey = await updateApiKey(await gatherDependencies(database), id, {
        ...readRestrictions(options, current),
        ...(options.name === undefined ? {} : { name: options.name }),
      });
      return { json: presentKeyJson(apiKey), text: `Updated ${apiKey.id} (${apiKey.name}).` };
    }),
};

const revokeCommand: Command = {
  name: "key revoke",
  summary: "Revoke an API key immediately. This cannot be undone.",
  positionals: ["key id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const apiKey = await revokeApiKey({ ...systemDependencies, database }, id);
      return { json: presentKeyJson(apiKey), text: `Revoked ${apiKey.id} (${apiKey.name}).` };
    }),
};

export const keyCommands: readonly Command[] = [createCommand, listCommand, showCommand, updateCommand, revokeCommand];

/** Keys can be limited only to models of the catalog. */
async function gatherDependencies(database: Database) {
  const catalog = await findCatalog(database);
  const modelIds = new Set(catalog?.models.map(({ id }) => id));
  return { ...systemDependencies, database, hasModel: (id: string) => modelIds.has(id) };
}

async function getKey(database: Database, id: string): Promise<ApiKey> {
  const apiKey = await findApiKey(database, id);
  if (apiKey === null)
    throw new AppError("not_found", `There is no key ${id}. List them: npm run -s sluice -- key list`);
  return apiKey;
}

function presentValue(value: unknown): string {
  if (value === null) return "-";
  return Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function presentKeyRows(keys: readonly ApiKey[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.accountId,
    key.name,
    // The console's key is never shown.
    findKeyKind(key) === "console" ? "console" : `sk-slc-…${key.lastFour}`,
    key.revokedAt === null ? "active" : `revoked ${key.revokedAt.toISOString()}`,
  ]);
  return presentRows(["ID", "ACCOUNT", "NAME", "KEY", "STATE"], rows);
}

export function presentKeyJson(key: ApiKey): Record<string, unknown> {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    kind: findKeyKind(key),
    last_four: key.lastFour,
    created_at: key.createdAt.toISOString(),
    revoked_at: key.revokedAt?.toISOString() ?? null,
    expires_at: key.expiresAt?.toISOString() ?? null,
    models: key.modelIds,
    endpoints: key.endpoints,
    addresses: key.addresses,
    budget: key.budget === null ? null : { amount: presentMoney(key.budget.amount), period: key.budget.period },
    limits: presentLimitsJson(key.limits),
    content_log: key.logsContent,
  };
}
