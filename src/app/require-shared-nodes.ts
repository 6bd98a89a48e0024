import { setTimeout as wait } from "node:timers/promises";
import type { Settings } from "../platform/config/load-settings.ts";
import type { Database } from "../platform/database/database.ts";
import { listNodes, type NodeFacts, type SeenNode } from "../platform/database/node-names.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { Logger } from "../platform/observability/logger.ts";

type NodeDependencies = {
  database: Database;
  settings: Pick<Settings, "unshared_nodes" | "data_dir"> & { s3_bucket?: string | undefined };
  logger: Logger;
};

/** Longer than any heartbeat interval: a node without one is dead, and only its session remains. */
const lookAgainMs = 1500;

/**
 * Throws if another gateway on the database does not share Redis or file storage. Called after this one is registered, so
 * that of two that start at once at least one sees the other.
 */
export async function requireSharedNodes(
  { database, settings, logger }: NodeDependencies,
  own: NodeFacts,
): Promise<void> {
  const first = await listApart(database, own);
  if (first.length === 0) return;
  await wait(lookAgainMs);
  const later = await listApart(database, own);
  const other = later.find(({ session, heardAt }) =>
    first.some(
      (seen) => seen.session === session && (heardAt === null || heardAt.getTime() !== seen.heardAt?.getTime()),
    ),
  );
  if (other === undefined) return;
  const refusal = explain(other, own, settings);
  if (settings.unshared_nodes === "refuse") throw refusal;
  logger.warn({ remedy: refusal.remedy }, refusal.message);
}

async function listApart(database: Database, own: NodeFacts): Promise<SeenNode[]> {
  return (await listNodes(database)).filter((other) => other.group !== own.group && isApart(other, own));
}

function isApart(other: NodeFacts, own: NodeFacts): boolean {
  return other.storage !== own.storage || other.counts !== "redis" || own.counts !== "redis";
}

function explain(other: SeenNode, own: NodeFacts, settings: NodeDependencies["settings"]): OperatorError {
  const place = other.address === null ? "" : ` (at ${other.address})`;
  const faults: string[] = [];
  const remedies: string[] = [];
  if (other.counts !== "redis" || own.counts !== "redis") {
    faults.push("rate limits would not be shared");
    remedies.push("set redis_url to the same Redis on all of them");
  }
  if (other.storage !== own.storage) {
    faults.push(
      settings.s3_bucket === undefined
        ? `files in ${settings.data_dir} would not be shared`
        : "files would be in different buckets",
    );
    remedies.push("set s3_bucket to the same bucket on all of them, or share the files folder");
  }
  return new OperatorError(
    `Another gateway${place} uses this database, and ${faults.join(", and ")}.`,
    `Stop the other one, or ${remedies.join(", and ")}. To run without sharing, set unshared_nodes to allow (docs/operating/scaling.md).`,
  );
}
