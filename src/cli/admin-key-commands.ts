import { type AdminKey, adminScopes, createAdminKey, listAdminKeys, revokeAdminKey } from "../features/admin/index.ts";
import type { Command } from "./command.ts";
import { getActing } from "./get-acting.ts";
import { createWrongValue, readTime } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { saveSecret } from "./save-secret.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const keysMax = 10_000;

const createCommand: Command = {
  name: "admin-key create",
  summary: "Create a key for the operators' API and the remote command line. It is shown once.",
  options: {
    name: { placeholder: "text", description: "A name for the key.", isRequired: true },
    access: { placeholder: "word", description: "read or write. Default: read." },
    scopes: { placeholder: "names", description: `Comma-separated: ${adminScopes.join(", ")}. Default: all.` },
    expires: { placeholder: "time", description: "When it expires, such as 2027-01-01T00:00:00Z. Default: never." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const access = (["read", "write"] as const).find((word) => word === (options.access ?? "read"));
      if (access === undefined) throw createWrongValue("access", "read or write");
      const { key, text } = await createAdminKey(
        { ...systemDependencies, database },
        {
          name: options.name ?? "",
          access,
          scopes: options.scopes?.split(",").map((word) => word.trim()) ?? [],
          expiresAt: options.expires === undefined ? null : readTime(options.expires),
          acting: getActing(),
        },
      );
      if (terminal.isJson) return { json: { ...presentKeyJson(key), key: text }, text: "" };
      const place = terminal.isTerminal
        ? `${text}\nSave it now: it is not shown again.`
        : `Saved to ${saveSecret(settings.data_dir, key.id, text)} (standard output is not a terminal).`;
      return { json: null, text: `Created ${key.id} (${key.name}).\n\n${place}` };
    }),
};

const listCommand: Command = {
  name: "admin-key list",
  summary: "List the keys of the operators' API.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const keys = await listAdminKeys(database, { after: null, limit: keysMax });
      const rows = keys.map((key) => [
        key.id,
        key.name,
        key.access,
        key.scopes.length === adminScopes.length ? "all" : key.scopes.join(","),
        key.revokedAt === null ? (key.expiresAt?.toISOString() ?? "-") : "revoked",
        key.lastUsedAt?.toISOString() ?? "never",
      ]);
      return {
        json: keys.map(presentKeyJson),
        text:
          keys.length === 0
            ? "No admin keys. Create one: npm run -s sluice -- admin-key create --name <text>"
            : presentRows(["ID", "NAME", "ACCESS", "SCOPES", "EXPIRES", "LAST USED"], rows),
      };
    }),
};

const revokeCommand: Command = {
  name: "admin-key revoke",
  summary: "Revoke a key of the operators' API, from the next request on.",
  positionals: ["admin key id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const key = await revokeAdminKey({ ...systemDependencies, database }, { id, acting: getActing() });
      return { json: presentKeyJson(key), text: `Revoked ${key.id} (${key.name}).` };
    }),
};

export const adminKeyCommands: readonly Command[] = [createCommand, listCommand, revokeCommand];

function presentKeyJson(key: AdminKey): Record<string, unknown> {
  return {
    id: key.id,
    name: key.name,
    access: key.access,
    scopes: key.scopes,
    created_by: key.createdBy,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
