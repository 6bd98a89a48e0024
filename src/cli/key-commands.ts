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
import { keepSecret } from "./keep-secret.ts";
import { readRestrictions, restrictionOptions } from "./option-values.ts";
import { presentLimitsJson } from "./present-limits.ts";
import { presentRows } from "./present-rows.ts";
import { systemParts } from "./system-parts.ts";
import { withDatabase } from "./with-database.ts";

const createCommand: Command = {
  name: "key create",
  summary: "Creates an API key and shows it, this once.",
  options: {
    account: { placeholder: "account id", explains: "The account that the key belongs to.", isRequired: true },
    name: { placeholder: "text", explains: "What the key is for; without it: default." },
    ...restrictionOptions,
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const { apiKey, text } = await createApiKey(await gatherParts(database), {
        accountId: options.account ?? "",
        name: options.name ?? "default",
        ...readRestrictions(options, unrestricted),
      });
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

const showCommand: Command = {
  name: "key show",
  summary: "Shows an API key's restrictions.",
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
  summary: "Changes what an API key may do; every gateway goes by it within a second.",
  positionals: ["key id"],
  options: { name: { placeholder: "text", explains: "What the key is for." }, ...restrictionOptions },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const current = await getKey(database, id);
      const apiKey = await updateApiKey(await gatherParts(database), id, {
        ...readRestrictions(options, current),
        ...(options.name === undefined ? {} : { name: options.name }),
      });
      return { json: presentKeyJson(apiKey), text: `Changed ${apiKey.id} (${apiKey.name}).` };
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

export const keyCommands: readonly Command[] = [createCommand, listCommand, showCommand, updateCommand, revokeCommand];

/** A key can be limited only to models that the catalog has. */
async function gatherParts(database: Database) {
  const catalog = await findCatalog(database);
  const modelIds = new Set(catalog?.models.map(({ id }) => id));
  return { ...systemParts, database, hasModel: (id: string) => modelIds.has(id) };
}

async function getKey(database: Database, id: string): Promise<ApiKey> {
  const apiKey = await findApiKey(database, id);
  if (apiKey === null) throw new AppError("not_found", `There is no key ${id}.`);
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
    // Nobody has ever seen the console's own key.
    findKeyKind(key) === "console" ? "the console's own" : `sk-slc-…${key.lastFour}`,
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
