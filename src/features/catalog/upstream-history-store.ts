import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** A circuit that some process holds open: of a model with a key, or of the key if the model is empty. */
export type OpenCircuit = {
  providerId: string;
  upstreamModel: string;
  keyNumber: number;
  lastFailure: string;
  /** Whether every process that reported it has been silent for too long. */
  isSilent: boolean;
};

/**
 * The circuits that are open in any process. What operators switched off is reported as open too; the switch itself is the
 * record of it.
 */
export async function listOpenCircuits(tx: Database, forgottenBefore: Date): Promise<OpenCircuit[]> {
  const { rows } = await sql<OpenCircuit>`
    select provider_id as "providerId", upstream_model as "upstreamModel", key_number as "keyNumber",
        min(last_failure) as "lastFailure", max(reported_at) < ${forgottenBefore} as "isSilent"
      from upstream_health
      where state in ('open', 'half-open') and last_failure !~ '^(disabled|draining) '
      group by provider_id, upstream_model, key_number`.execute(tx);
  return rows;
}

/** Held until the transaction ends: otherwise two processes could both report the first open circuit, or the last. */
export async function lockCircuits(tx: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('circuits of upstreams', 0))`.execute(tx);
}

type UpstreamEventRow = {
  kind: "circuit_opened" | "circuit_closed" | "test_passed" | "test_failed";
  at: Date;
  providerId: string;
  upstreamModel: string | null;
  keyNumber: number | null;
  actor: string | null;
  detail: string | null;
};

const detailCharactersMax = 300;

export async function insertUpstreamEvents(database: Database, events: readonly UpstreamEventRow[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ providerId, upstreamModel, keyNumber, detail, ...rest }) => ({
    ...{ ...rest, provider_id: providerId, upstream_model: upstreamModel, key_number: keyNumber },
    detail: detail?.slice(0, detailCharactersMax) ?? null,
  }));
  await database.insertInto("upstream_events").values(rows).execute();
}

export async function deleteOldUpstreamEvents(
  database: Database,
  { before, rowsMax }: { before: Date; rowsMax: number },
): Promise<void> {
  await sql`
    delete from upstream_events
      where at < ${before} or id <= (select id from upstream_events order by id desc offset ${rowsMax} limit 1)`.execute(
    database,
  );
}
