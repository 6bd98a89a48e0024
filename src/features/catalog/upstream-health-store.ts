import type { Database } from "../../platform/database/database.ts";
import type { CircuitState, TargetHealth } from "../../providers/upstream-health.ts";

/** The last failure is a word of the gateway's that reports it, which may be of another version. */
export type ReportedHealth = Omit<TargetHealth, "lastFailure"> & {
  lastFailure: string;
  nodeId: string;
  reportedAt: Date;
};

/** Replaces what a node has told before, and forgets nodes that have not told anything since a moment. */
export async function replaceHealth(
  tx: Database,
  {
    nodeId,
    health,
    now,
    forgottenBefore,
  }: { nodeId: string; health: readonly TargetHealth[]; now: Date; forgottenBefore: Date },
): Promise<void> {
  await tx
    .deleteFrom("upstream_health")
    .where((row) => row.or([row("node_id", "=", nodeId), row("reported_at", "<", forgottenBefore)]))
    .execute();
  if (health.length === 0) return;
  const rows = health.map((target) => ({
    node_id: nodeId,
    provider_id: target.providerId,
    // A row without a model is about all models of the key.
    upstream_model: target.upstreamModel ?? "",
    key_number: target.keyNumber,
    state: target.state,
    failures: target.failures,
    last_failure: target.lastFailure,
    rests_until: target.openUntil,
    reported_at: now,
  }));
  await tx.insertInto("upstream_health").values(rows).execute();
}

export async function listReportedHealth(database: Database, since: Date): Promise<ReportedHealth[]> {
  const rows = await database
    .selectFrom("upstream_health")
    .select(["node_id", "provider_id", "upstream_model", "key_number", "state", "failures"])
    .select(["last_failure", "rests_until", "reported_at"])
    .where("reported_at", ">=", since)
    .orderBy("node_id")
    .execute();
  return rows.map((row) => ({
    nodeId: row.node_id,
    providerId: row.provider_id,
    upstreamModel: row.upstream_model === "" ? null : row.upstream_model,
    keyNumber: row.key_number,
    state: toCircuitState(row.state),
    failures: row.failures,
    lastFailure: row.last_failure,
    openUntil: row.rests_until,
    reportedAt: row.reported_at,
  }));
}

/** Gateways of the version before have other words for the same. */
const olderWords: Readonly<Record<string, CircuitState>> = { resting: "open", probing: "half-open", shaky: "degraded" };

function toCircuitState(state: string): CircuitState {
  // Written by `replaceHealth` alone.
  return olderWords[state] ?? (state as CircuitState);
}
