import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogFile, CatalogProblem } from "./catalog-file.ts";
import { findCatalog, insertCatalog, lockCatalog } from "./catalog-store.ts";
import { type CatalogSurroundings, checkCatalog } from "./check-catalog.ts";
import { describeCatalogChange } from "./describe-catalog-change.ts";
import { compareByPlace, type LocatedProblem, parseCatalog } from "./parse-catalog.ts";
import { planCatalogChange } from "./plan-catalog-change.ts";

export type CatalogOutcome =
  | { kind: "refused"; problems: LocatedProblem[] }
  /** `changes` is empty when the file says what is in force already: then nothing is written. */
  | { kind: "accepted"; version: number; changes: string[] };

type ApplyParts = { database: Database; clock: Clock; ids: IdSource; surroundings: CatalogSurroundings };

/** Whether the file could be applied, and what would change. Nothing is written. */
export async function previewCatalog(parts: ApplyParts, source: string): Promise<CatalogOutcome> {
  return await consider(parts, source, async () => {});
}

/** Makes the file the catalog in force, whole or not at all. */
export async function applyCatalog(parts: ApplyParts, source: string): Promise<CatalogOutcome> {
  return await parts.database.transaction().execute(async (tx) => {
    await lockCatalog(tx);
    return await consider({ ...parts, database: tx }, source, (catalog) => insertCatalog(tx, catalog));
  });
}

async function consider(
  parts: ApplyParts,
  source: string,
  write: (catalog: Parameters<typeof insertCatalog>[1]) => Promise<void>,
): Promise<CatalogOutcome> {
  const parsed = parseCatalog(source);
  if (parsed.kind === "malformed") return { kind: "refused", problems: parsed.problems };
  const refuse = (problems: readonly CatalogProblem[]): CatalogOutcome => ({
    kind: "refused",
    problems: problems.map(parsed.locate).toSorted(compareByPlace),
  });
  const problems = checkCatalog(parsed.file, parts.surroundings);
  if (problems.length > 0) return refuse(problems);
  const current = await findCatalog(parts.database);
  const now = parts.clock.now();
  const planned = plan(parts, parsed.file, current, now);
  if (planned.kind === "impossible") return refuse(planned.problems);
  const { next, newPrices } = planned.change;
  const changes = describeCatalogChange(current, next);
  if (changes.length === 0) return { kind: "accepted", version: current?.version ?? 0, changes };
  const version = (current?.version ?? 0) + 1;
  await write({ ...next, version, appliedAt: now, newPrices });
  return { kind: "accepted", version, changes };
}

function plan(parts: ApplyParts, file: CatalogFile, current: Catalog | null, now: Date) {
  return planCatalogChange({ file, current, now, createPriceId: () => parts.ids.next("price") });
}
