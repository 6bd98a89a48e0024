import type { Clock } from "../../lib/clock.ts";
import type { MasterKey } from "../../platform/config/master-key.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import { createUpstreamSecretSeal, type UpstreamSecretSeal } from "./seal-upstream-secret.ts";
import {
  deleteVersions,
  insertSecret,
  listCurrentSecrets,
  listSecretVersions,
  lockSecrets,
  type SecretVersion,
  updateRetirement,
} from "./secret-store.ts";

type ChangeDependencies = { database: Database; clock: Clock };
type StoreDependencies = ChangeDependencies & {
  masterKey: MasterKey;
  randomBytes: (count: number) => Uint8Array;
};

type NewSecret = {
  name: string;
  value: string;
  actor: string;
  /** Whether another key may have sealed the stored secrets. */
  acceptsNewKey: boolean;
};

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Sent as a header. */
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/;
const versionsMax = 10;
const namesMax = 1000;

/** Adds a version and retires the one in use. Returns the new version's number. */
export async function storeSecret(
  { database, clock, masterKey, randomBytes }: StoreDependencies,
  { name, value: given, actor, acceptsNewKey }: NewSecret,
): Promise<number> {
  const value = joinLines(given);
  requireValid(name, value);
  const seal = createUpstreamSecretSeal(masterKey);
  return await inTransaction(database, async (tx) => {
    await lockSecrets(tx);
    if (!acceptsNewKey) await requireSameKey(tx, seal);
    const all = await listSecretVersions(tx);
    const known = all.filter((one) => one.name === name);
    if (known.length === 0) requireRoom(all);
    const version = (known[0]?.version ?? 0) + 1;
    const now = clock.now();
    await retire(tx, known, now);
    await insertSecret(tx, { name, version, sealed: seal.seal({ name, version }, value, randomBytes), now, actor });
    await deleteVersions(tx, { name, versions: known.slice(versionsMax - 1).map((one) => one.version) });
    return version;
  });
}

/** Makes an older version the one in use: the given one, or the one before the current. Returns both numbers. */
export async function rollBackSecret(
  { database, clock }: ChangeDependencies,
  { name, version: wanted }: { name: string; version: number | null },
): Promise<{ from: number; to: number }> {
  return await inTransaction(database, async (tx) => {
    await lockSecrets(tx);
    const known = await getVersions(tx, name);
    const from = known.find(({ retiredAt }) => retiredAt === null)?.version ?? 0;
    const target =
      wanted === null
        ? known.find(({ version }) => version < from)
        : known.find(({ version }) => version === wanted && version !== from);
    if (target === undefined) {
      const others = known.flatMap(({ version }) => (version === from ? [] : [version]));
      const choice = others.length === 0 ? "It has no other version." : `Other versions: ${others.join(", ")}.`;
      const reason =
        wanted === null ? "has no older version" : wanted === from ? "already uses it" : `has no version ${wanted}`;
      throw new AppError("invalid_parameter", `${name} ${reason}. Its current version is ${from}. ${choice}`, {
        param: "version",
      });
    }
    await retire(tx, known, clock.now());
    await updateRetirement(tx, { name, version: target.version, retiredAt: null });
    return { from, to: target.version };
  });
}

/** Deletes all versions. */
export async function removeSecret({ database }: Pick<ChangeDependencies, "database">, name: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    await lockSecrets(tx);
    const known = await getVersions(tx, name);
    await deleteVersions(tx, { name, versions: known.map(({ version }) => version) });
  });
}

async function retire(tx: Database, known: readonly SecretVersion[], now: Date): Promise<void> {
  const current = known.find(({ retiredAt }) => retiredAt === null);
  if (current !== undefined) await updateRetirement(tx, { ...current, retiredAt: now });
}

async function getVersions(tx: Database, name: string): Promise<SecretVersion[]> {
  const known = (await listSecretVersions(tx)).filter((one) => one.name === name);
  if (known.length > 0) return known;
  throw new AppError("not_found", `There is no stored secret ${name}. List them: npm run -s sluice -- secret list`);
}

/** JSON, such as the key file of a service account, becomes one line. */
function joinLines(value: string): string {
  if (!value.trimStart().startsWith("{")) return value;
  try {
    return JSON.stringify(JSON.parse(value));
  } catch {
    return value;
  }
}

function requireValid(name: string, value: string): void {
  if (!namePattern.test(name)) {
    const rule = "Use up to 128 letters, digits and underscores, not a digit first, such as OPENAI_KEY.";
    throw new AppError("invalid_parameter", `"${name}" is not a valid name of a secret. ${rule}`, { param: "name" });
  }
  if (value === "")
    throw new AppError("invalid_parameter", "The secret is empty. Pass it by standard input or --file.");
  if (!valuePattern.test(value)) {
    const rule = "It must be one line of 1 to 4096 visible ASCII characters, without spaces around it.";
    throw new AppError("invalid_parameter", `The secret cannot be sent in a header. ${rule}`);
  }
}

function requireRoom(all: readonly SecretVersion[]): void {
  if (new Set(all.map(({ name }) => name)).size < namesMax) return;
  throw new AppError("invalid_parameter", `There are ${namesMax} stored secrets already. Remove one first.`);
}

/** A command on a machine with another key would store what no gateway can open. */
async function requireSameKey(tx: Database, seal: UpstreamSecretSeal): Promise<void> {
  const unreadable = (await listCurrentSecrets(tx)).filter((one) => seal.open(one, one.sealed) === null);
  if (unreadable.length === 0) return;
  throw new OperatorError(
    `Another secret key sealed the stored secrets ${unreadable.map(({ name }) => name).join(", ")}.`,
    "Run this with the gateways' secret_key or secret.key. If that key is lost, add --new-secret-key and store each of them again.",
  );
}
