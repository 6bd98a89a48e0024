import type { Database } from "../../platform/database/database.ts";
import type { CircuitState, TargetHealth } from "../../providers/upstream-health.ts";
import { insertUpstreamEvents, listOpenCircuits, lockCircuits, type OpenCircuit } from "./upstream-history-store.ts";

/** A node of another version may report failures that this one does not know, so the last failure is a plain string. */
export type ReportedHealth = Omit<TargetHealth, "lastFailure"> & {
  lastFailure: string;
  nodeId: string;
  reportedAt: Date;
};

/**
 * Replaces a node's report and deletes those of nodes that have not reported since `forgottenBefore`. Records which circuits
 * opened in a first process, and which closed in the last one.
 */
export async function replaceHealth(
  tx: Database,
  {
    nodeId,
    health,
    now,
    forgottenBefore,
  }: { nodeId: string; health: readonly TargetHealth[]; now: Date; forgottenBefore: Date },
): Promise<void> {
  await lockCircuits(tx);
  const before = await listOpenCircuits(tx, forgottenBefore);
  await tx
    .deleteFrom("upstream_health")
    .where((row) => row.or([row("node_id", "=", nodeId), row("reported_at", "<", forgottenBefore)]))
    .execute();
  await insertHealth(tx, { nodeId, health, now });
  const after = await listOpenCircuits(tx, forgottenBefore);
  const opened = leaveOut(after, before).map((circuit) => ({ ...describe(circuit), kind: "circuit_opened" as const }));
  const closed = leaveOut(before, after).map((circuit) => ({
    ...describe(circuit),
    kind: "circuit_closed" as const,
    detail: circuit.isSilent ? "its process is gone" : null,
  }));
  await insertUpstreamEvents(
    tx,
    [...closed, ...opened].map((event) => ({ ...event, at: now, actor: null })),
  );
}

function leaveOut(circuits: readonly OpenCircuit[], others: readonly OpenCircuit[]): OpenCircuit[] {
  const name = ({ providerId, upstreamModel, keyNumber }: OpenCircuit): string =>
    JSON.stringify([providerId, upstreamModel, keyNumber]);
  const known = new Set(others.map(name));
  return circuits.filter((circuit) => !known.has(name(circuit)));
}

function describe({ providerId, upstreamModel, keyNumber, lastFailure }: OpenCircuit) {
  return {
    providerId,
    upstreamModel: upstreamModel === "" ? null : upstreamModel,
    keyNumber,
    detail: lastFailure,
  };
}

async function insertHealth(
  tx: Database,
  { nodeId, health, now }: { nodeId: string; health: readonly TargetHealth[]; now: Date },
): Promise<void> {
  if (health.length === 0) return;
  const rows = health.map((target) => ({
    node_id: nodeId,
    provider_id: target.providerId,
    // A row without a model applies to all models of the key.
    upstream_model: target.upstreamModel ?? "",
    key_number: target.keyNumber,
    state: target.state,
    failures: target.failures,
    last_failure: target.lastFailure,
    open_until: target.openUntil,
    reported_at: now,
  }));
  await tx.insertInto("upstream_health").values(rows).execute();
}

export async function listReportedHealth(database: Database, since: Date): Promise<ReportedHealth[]> {
  const rows = await database
    .selectFrom("upstream_health")
    .select(["node_id", "provider_id", "upstream_model", "key_number", "state", "failures"])
    .select(["last_failure", "open_until", "reported_at"])
    .where("reported_at", ">=", since)
    .orderBy("node_id")
    .execute();
  return rows.map((row) => ({
    nodeId: row.node_id,
    providerId: row.provider_id,
    upstreamModel: row.upstream_model === "" ? null : row.upstream_model,
    keyNumber: row.key_number,
    // Written by `replaceHealth` alone.
    state: row.state as CircuitState,
    failures: row.failures,
    lastFailure: row.last_failure,
    openUntil: row.open_until,
    reportedAt: row.reported_at,
  }));
}
