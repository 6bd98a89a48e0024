import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogProblem } from "./catalog-file.ts";
import { findCatalogSource, putCatalogSource } from "./catalog-source-store.ts";
import { findCatalog, insertCatalog, lockCatalog } from "./catalog-store.ts";
import { type CatalogSurroundings, checkCatalog } from "./check-catalog.ts";
import { describeCatalogChange } from "./describe-catalog-change.ts";
import { listLosses } from "./list-losses.ts";
import { listQuotaLosses } from "./list-quota-losses.ts";
import { compareByPlace, type LocatedProblem, parseCatalog } from "./parse-catalog.ts";
import { planCatalogChange } from "./plan-catalog-change.ts";

export type CatalogOutcome =
  | { kind: "refused"; problems: LocatedProblem[] }
  /** `changes` is empty when the file equals the catalog in force: then there is no new version. */
  | {
      kind: "accepted";
      version: number;
      changes: string[];
      warnings: LocatedProblem[];
      /** Whether the version's text was stored or replaced, perhaps by other comments alone. */
      isTextStored: boolean;
    };

type ApplyDependencies = { database: Database; clock: Clock; ids: IdSource; surroundings: CatalogSurroundings };

/** Validates the file and lists what would change. Writes nothing. */
export async function previewCatalog(dependencies: ApplyDependencies, source: string): Promise<CatalogOutcome> {
  return await consider(dependencies, source, async () => {});
}

/** The catalog that the file would be. Writes nothing. */
export async function draftCatalog(
  dependencies: ApplyDependencies,
  source: string,
): Promise<{ outcome: CatalogOutcome; draft: NewCatalog | Catalog | null }> {
  let draft: NewCatalog | null = null;
  const outcome = await consider(dependencies, source, async (catalog) => {
    draft = catalog;
  });
  return { outcome, draft: draft ?? (await findCatalog(dependencies.database)) };
}

/** Makes the file the catalog in force, all or nothing. Joins the caller's transaction if it has one. */
export async function applyCatalog(
  { database, clock, ids, surroundings }: ApplyDependencies,
  source: string,
): Promise<CatalogOutcome> {
  return await inTransaction(database, async (tx) => {
    await lockCatalog(tx);
    const write = (catalog: NewCatalog) => insertCatalog(tx, catalog);
    const outcome = await consider({ database: tx, clock, ids, surroundings }, source, write);
    if (outcome.kind === "refused" || outcome.version === 0) return outcome;
    if ((await findCatalogSource(tx, outcome.version)) === source) return outcome;
    await putCatalogSource(tx, outcome.version, source);
    return { ...outcome, isTextStored: true };
  });
}

type NewCatalog = Parameters<typeof insertCatalog>[1];

async function consider(
  { database, clock, ids, surroundings }: ApplyDependencies,
  source: string,
  write: (catalog: NewCatalog) => Promise<void>,
): Promise<CatalogOutcome> {
  const parsed = parseCatalog(source);
  if (parsed.kind === "malformed") return { kind: "refused", problems: parsed.problems };
  const refuse = (problems: readonly CatalogProblem[]): CatalogOutcome => ({
    kind: "refused",
    problems: problems.map(parsed.locate).toSorted(compareByPlace),
  });
  const problems = checkCatalog(parsed.file, surroundings);
  if (problems.length > 0) return refuse(problems);
  const current = await findCatalog(database);
  const now = clock.now();
  const createPriceId = () => ids.next("price");
  const planned = planCatalogChange({ file: parsed.file, current, now, createPriceId });
  if (planned.kind === "impossible") return refuse(planned.problems);
  const { next, newPrices } = planned.change;
  const changes = describeCatalogChange(current, next);
  const { plans = [] } = surroundings;
  const quotaLosses = listQuotaLosses(next.models, plans).map(({ modelIndex, message }) => ({
    path: ["models", modelIndex],
    message,
  }));
  const warnings = [...listLosses(parsed.file), ...quotaLosses].map(parsed.locate).toSorted(compareByPlace);
  const found = { changes, warnings, isTextStored: false };
  if (changes.length === 0) return { kind: "accepted", version: current?.version ?? 0, ...found };
  const version = (current?.version ?? 0) + 1;
  await write({ ...next, version, appliedAt: now, newPrices });
  return { kind: "accepted", version, ...found };
}
