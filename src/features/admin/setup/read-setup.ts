import { readReference } from "../../../platform/config/secrets.ts";
import { type Catalog, findCatalog, findPriceOf } from "../../catalog/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { loadUpstreamSecrets } from "../upstreams/load-upstream-secrets.ts";
import { findLastBackup, hasChargedCall } from "./setup-store.ts";

export const setupSteps = ["vendor_key", "models", "prices", "payments", "mail", "backups", "first_call"] as const;
export type SetupStep = { name: (typeof setupSteps)[number]; isDone: boolean; found: string };

const backupDaysMax = 8;
const dayMs = 24 * 60 * 60 * 1000;

/** From an empty database to the first paid call: each step as the system finds it now. The sandbox counts for nothing. */
export async function readSetup(
  dependencies: Pick<AdminDependencies, "database" | "clock" | "masterKey" | "setup">,
): Promise<SetupStep[]> {
  const { database, clock, setup } = dependencies;
  const now = clock.now();
  const [catalog, secrets, lastBackup] = await Promise.all([
    findCatalog(database),
    loadUpstreamSecrets(dependencies),
    findLastBackup(database),
  ]);
  const vendors = (catalog?.providers ?? []).filter(({ kind }) => kind !== "sandbox");
  const ready = vendors.filter(({ api_keys: keys = [] }) => keys.every((text) => secrets.find(text) !== null));
  const missing = vendors.flatMap(({ api_keys: keys = [] }) => keys.filter((text) => secrets.find(text) === null));
  const vendorIds = new Set(vendors.map(({ id }) => id));
  const models = (catalog?.models ?? []).filter(({ routes }) => routes.some((route) => vendorIds.has(route.provider)));
  const unpriced = models.filter(({ id }) => !hasPrice(catalog, id, now));
  const isFresh = lastBackup !== null && now.getTime() - lastBackup.getTime() < backupDaysMax * dayMs;
  const hasCalls = await hasChargedCall(
    database,
    models.map(({ id }) => id),
  );
  return [
    {
      name: "vendor_key",
      isDone: ready.length > 0 && missing.length === 0,
      found:
        vendors.length === 0
          ? "The catalog has no vendor."
          : missing.length > 0
            ? `Missing: ${[...new Set(missing.map((text) => readReference(text) ?? text))].join(", ")}.`
            : `${count(ready.length, "vendor")} with a key.`,
    },
    {
      name: "models",
      isDone: models.length > 0,
      found: models.length === 0 ? "No model of a vendor." : `${count(models.length, "model")}.`,
    },
    {
      name: "prices",
      isDone: models.length > 0 && unpriced.length === 0,
      found:
        unpriced.length === 0
          ? "Every model has a price."
          : `Without a price: ${unpriced
              .slice(0, 5)
              .map(({ id }) => id)
              .join(", ")}.`,
    },
    {
      name: "payments",
      isDone: setup.hasPayments,
      found: setup.hasPayments ? "Card payments are on." : "The setting stripe_secret_key is not set.",
    },
    {
      name: "mail",
      isDone: setup.hasMail,
      found: setup.hasMail ? "Mails are sent." : "The setting smtp_url is not set.",
    },
    {
      name: "backups",
      isDone: isFresh || setup.hasLogArchive,
      found: setup.hasLogArchive
        ? "The log is archived."
        : lastBackup === null
          ? setup.isDatabaseExternal
            ? "No backup by Sluice was seen. The database is external: its own backups are not visible here."
            : "No backup was made."
          : `The last backup is of ${lastBackup.toISOString()}.`,
    },
    {
      name: "first_call",
      isDone: hasCalls,
      found: hasCalls ? "A call was charged." : "No call of these models was charged.",
    },
  ];
}

function hasPrice(catalog: Catalog | null, modelId: string, now: Date): boolean {
  if (catalog === null) return false;
  const someone = { accountId: "", planId: null };
  const model = catalog.models.find(({ id }) => id === modelId);
  const asked = [null, ...(model?.capabilities ?? [])];
  return asked.some((capability) => findPriceOf(catalog, { modelId, capability, ...someone, now }) !== null);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
