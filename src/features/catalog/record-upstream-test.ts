import type { Database } from "../../platform/database/database.ts";
import type { UpstreamFinding } from "../../providers/examine-upstream.ts";
import { insertUpstreamEvents } from "./upstream-history-store.ts";

type UpstreamTest = { providerId: string; findings: readonly UpstreamFinding[]; actor: string; at: Date };

/** Keeps the result of a test for the upstreams' timeline: its first failed check, or how many passed. */
export async function recordUpstreamTest(
  database: Database,
  { providerId, findings, actor, at }: UpstreamTest,
): Promise<void> {
  const failed = findings.find(({ isOk }) => !isOk);
  const event =
    failed === undefined
      ? { kind: "test_passed" as const, detail: `${findings.length} checks` }
      : { kind: "test_failed" as const, detail: `${failed.check}: ${failed.message}` };
  await insertUpstreamEvents(database, [{ ...event, at, providerId, upstreamModel: null, keyNumber: null, actor }]);
}
