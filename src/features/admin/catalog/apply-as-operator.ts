import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { appendAudit } from "../../audit/index.ts";
import { applyCatalog, type CatalogOutcome, findCatalog, lockCatalog } from "../../catalog/index.ts";
import type { Acting } from "../edge/admin-caller.ts";
import { requireReason } from "../edge/reason.ts";
import { nameVersion } from "./catalog-admin-store.ts";
import { type CatalogDependencies, gatherSurroundings } from "./gather-surroundings.ts";

type ApplyRequest = {
  source: string;
  /** The version that the operator edited; `null` to apply onto any. */
  baseVersion: number | null;
  reason: string;
  acting: Acting;
};

const changesShownMax = 50;

/** Applies a catalog file with an audit entry of what changed, unless another version was applied meanwhile. */
export async function applyAsOperator(
  dependencies: CatalogDependencies & { database: Database },
  { source, baseVersion, reason: text, acting }: ApplyRequest,
): Promise<CatalogOutcome> {
  const { clock, ids } = dependencies;
  const reason = requireReason(text);
  const surroundings = await gatherSurroundings(dependencies, source);
  return await inTransaction(dependencies.database, async (tx) => {
    await lockCatalog(tx);
    const current = (await findCatalog(tx))?.version ?? 0;
    if (baseVersion !== null && baseVersion !== current) {
      const message = `Version ${current} was applied since you opened version ${baseVersion}. Load it, and repeat your changes.`;
      throw new AppError("catalog_changed", message, { param: "base_version" });
    }
    const outcome = await applyCatalog({ database: tx, clock, ids, surroundings }, source);
    await recordCatalog(tx, outcome, { acting, reason });
    return outcome;
  });
}

/** Appends who applied a version, with what changed, or who changed its comments. A file that changes nothing leaves no entry. */
export async function recordCatalog(
  tx: Database,
  outcome: CatalogOutcome,
  { acting, reason }: { acting: Acting; reason: string | null },
): Promise<void> {
  if (outcome.kind === "refused") return;
  const { version, changes, isTextStored } = outcome;
  if (changes.length === 0) {
    const entry = { ...acting, action: "catalog.text_changed", subject: nameVersion(version), accountId: null, reason };
    if (isTextStored) await appendAudit(tx, { ...entry, before: null, after: { version } });
    return;
  }
  await appendAudit(tx, {
    ...{ ...acting, action: "catalog.applied", subject: nameVersion(version), accountId: null, reason },
    ...{ before: { version: version - 1 }, after: { version, changes: changes.slice(0, changesShownMax) } },
  });
}
