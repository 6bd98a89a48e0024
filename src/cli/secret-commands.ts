import { readFileSync } from "node:fs";
import { findCatalog, listNamedSecrets } from "../features/catalog/index.ts";
import {
  listSecretVersions,
  removeSecret,
  rollBackSecret,
  type SecretVersion,
  storeSecret,
} from "../features/secrets/index.ts";
import { openMasterKey } from "../platform/config/master-key.ts";
import { hasSecret, presentReference } from "../platform/config/secrets.ts";
import type { Database } from "../platform/database/database.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { Command, Terminal } from "./command.ts";
import { getActor } from "./get-acting.ts";
import { loadSecrets } from "./load-secrets.ts";
import { readNumber } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const setCommand: Command = {
  name: "secret set",
  summary:
    "Store a secret that the catalog names, encrypted, from standard input or a file. Gateways use it within a second.",
  positionals: ["name"],
  options: {
    file: { placeholder: "path", description: "The file that contains it. Default: standard input." },
    "new-secret-key": {
      placeholder: null,
      description: "Store it although another secret key sealed the stored secrets, which are lost then.",
    },
  },
  run: ({ positionals: [name = ""], options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const value = await readValue(options.file, terminal);
      const masterKey = await openMasterKey(settings, systemDependencies.randomBytes);
      const version = await storeSecret(
        { ...systemDependencies, database, masterKey },
        { name, value, actor: getActor(), acceptsNewKey: options["new-secret-key"] !== undefined },
      );
      const providers = listNamedSecrets(await findCatalog(database)).get(name) ?? [];
      const uses =
        providers.length === 0
          ? `No provider of the catalog names it yet: api_keys: ["${presentReference(name)}"].`
          : `Gateways use it within a second, for ${providers.join(", ")}.`;
      const hidden = hasSecret(name) ? ` The environment variable ${name} is ignored while it is stored.` : "";
      return {
        json: { name, version, providers },
        text: `Stored version ${version} of ${name}. ${uses}${hidden}`,
      };
    }),
};

const rollbackCommand: Command = {
  name: "secret rollback",
  summary: "Use an older version of a stored secret again. Gateways follow within a second.",
  positionals: ["name"],
  options: {
    version: { placeholder: "number", description: "The version to use. Default: the one before the current." },
  },
  run: ({ positionals: [name = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const version = options.version === undefined ? null : readNumber("version", options.version);
      const { from, to } = await rollBackSecret({ ...systemDependencies, database }, { name, version });
      return {
        json: { name, version: to, previous_version: from },
        text: `Version ${to} of ${name} replaces version ${from}. Gateways use it within a second.`,
      };
    }),
};

const removeCommand: Command = {
  name: "secret remove",
  summary: "Delete all versions of a stored secret that the catalog does not name, or that the environment has.",
  positionals: ["name"],
  run: ({ positionals: [name = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const providers = listNamedSecrets(await findCatalog(database)).get(name) ?? [];
      if (providers.length > 0 && !hasSecret(name)) {
        throw new OperatorError(
          `The catalog names ${name}, for ${providers.join(", ")}, and the environment does not have it.`,
          "Apply a catalog without it first, or set the environment variable here and on every gateway.",
        );
      }
      await removeSecret({ database }, name);
      const next = providers.length > 0 ? " Gateways use the environment variable within a second." : "";
      return { json: { name, removed: true }, text: `Removed ${name}.${next}` };
    }),
};

type ListedSecret = {
  name: string;
  providers: readonly string[];
  source: "database" | "environment" | "missing";
  isUnreadable: boolean;
  /** Also set in the environment of this command. */
  isInEnvironment: boolean;
  versions: readonly SecretVersion[];
};

const listCommand: Command = {
  name: "secret list",
  summary: "List the secrets of upstreams: versions, source, last use and the providers that name them. Never values.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const listed = await listSecrets(database, await loadSecrets(database, settings));
      return {
        json: listed.map(toJson),
        text:
          listed.length === 0
            ? "No secrets: the catalog names none, and none is stored."
            : presentRows(heading, listed.flatMap(toRows)),
      };
    }),
};

export const secretCommands: readonly Command[] = [setCommand, listCommand, rollbackCommand, removeCommand];

/** Without one newline at its end, which most tools write. */
async function readValue(path: string | undefined, terminal: Terminal): Promise<string> {
  if (path === undefined && terminal.isTerminal && !terminal.isJson) {
    terminal.printNote("Reading the secret from standard input. End it with Ctrl-D.");
  }
  const text = path === undefined ? await terminal.readInput() : readFile(path);
  return text.replace(/\r?\n$/, "");
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new OperatorError(`Cannot read the file ${path}.`, "Check its name and permissions.", { cause: error });
  }
}

async function listSecrets(
  database: Database,
  secrets: { isUnreadable(text: string): boolean },
): Promise<ListedSecret[]> {
  const named = listNamedSecrets(await findCatalog(database));
  const stored = Map.groupBy(await listSecretVersions(database), ({ name }) => name);
  return [...new Set([...stored.keys(), ...named.keys()])].toSorted().map((name) => {
    const versions = stored.get(name) ?? [];
    const isInEnvironment = hasSecret(name);
    return {
      ...{ name, versions, isInEnvironment, isUnreadable: secrets.isUnreadable(presentReference(name)) },
      providers: named.get(name) ?? [],
      source: versions.length > 0 ? "database" : isInEnvironment ? "environment" : "missing",
    };
  });
}

const heading = ["NAME", "SOURCE", "VERSION", "STATE", "CREATED", "BY", "LAST USE", "PROVIDERS"];

function toRows(secret: ListedSecret): string[][] {
  const { name, source, versions, isInEnvironment } = secret;
  const providers = secret.providers.join(", ") || "-";
  const stored = versions.map((one) => [
    ...[name, "database", String(one.version), describeState(secret, one)],
    ...[one.createdAt.toISOString(), one.createdBy, one.lastUsedAt?.toISOString() ?? "-", providers],
  ]);
  if (!isInEnvironment && stored.length > 0) return stored;
  const state = stored.length > 0 ? "ignored" : isInEnvironment ? "in use" : "missing";
  return [...stored, [name, source === "missing" ? "-" : "environment", "-", state, "-", "-", "-", providers]];
}

function describeState({ isUnreadable }: ListedSecret, { retiredAt }: SecretVersion): string {
  if (retiredAt !== null) return `retired ${retiredAt.toISOString()}`;
  return isUnreadable ? "unreadable" : "in use";
}

function toJson(secret: ListedSecret): Record<string, unknown> {
  return {
    name: secret.name,
    source: secret.source,
    in_environment: secret.isInEnvironment,
    providers: secret.providers,
    versions: secret.versions.map((one) => ({
      version: one.version,
      state: one.retiredAt !== null ? "retired" : secret.isUnreadable ? "unreadable" : "in_use",
      created_at: one.createdAt.toISOString(),
      created_by: one.createdBy,
      retired_at: one.retiredAt?.toISOString() ?? null,
      last_used_at: one.lastUsedAt?.toISOString() ?? null,
    })),
  };
}
