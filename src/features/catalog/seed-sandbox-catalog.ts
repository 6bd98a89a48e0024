import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import { applyCatalog } from "./apply-catalog.ts";
import { findCatalog } from "./catalog-store.ts";

const sandboxFile = join(import.meta.dirname, "../../../catalogs/sandbox.yaml");

/** Applies the sandbox catalog if there is none yet. */
export async function seedSandboxCatalog(
  { database, clock, ids }: { database: Database; clock: Clock; ids: IdSource },
  currency: string,
): Promise<void> {
  if ((await findCatalog(database)) !== null) return;
  const source = readFileSync(sandboxFile, "utf8").replace(/^currency: USD$/m, `currency: ${currency}`);
  const surroundings = {
    currency,
    planIds: new Set<string>(),
    accountIds: new Set<string>(),
    hasSecret: () => false,
    findPackageFault: () => null,
  };
  const outcome = await applyCatalog({ database, clock, ids, surroundings }, source);
  invariant(outcome.kind === "accepted", `the sandbox catalog was rejected: ${JSON.stringify(outcome)}`);
}
