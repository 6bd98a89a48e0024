import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { listUpstreamEvents, type UpstreamEvent } from "../../src/features/admin/upstreams/upstream-event-store.ts";
import { sweepUpstreamEvents } from "../../src/features/catalog/index.ts";
import { replaceHealth } from "../../src/features/catalog/upstream-health-store.ts";
import { insertUpstreamEvents } from "../../src/features/catalog/upstream-history-store.ts";
import { createDatabase, type Database, inTransaction } from "../../src/platform/database/database.ts";
import type { TargetHealth } from "../../src/providers/upstream-health.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";

const clock = createTestClock(new Date("2026-03-01T12:00:00Z"));
const dayMs = 24 * 60 * 60_000;

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({
    address: { connectionString: testDatabase.url },
    connectionsMax: 4,
    onConnectionError: () => {},
  });
});
beforeEach(async () => {
  await database.deleteFrom("upstream_health").execute();
  await database.deleteFrom("upstream_events").execute();
});
afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

function broken(
  state: TargetHealth["state"],
  lastFailure: string,
  upstreamModel: string | null = "large",
): TargetHealth {
  const place = { providerId: "acme", upstreamModel, keyNumber: 1 };
  return { ...place, state, failures: 5, lastFailure: lastFailure as "timeout", openUntil: clock.now() };
}

async function report(nodeId: string, ...health: TargetHealth[]): Promise<void> {
  clock.advance(1000);
  const now = clock.now();
  const forgottenBefore = new Date(now.getTime() - 90_000);
  await inTransaction(database, (tx) => replaceHealth(tx, { nodeId, health, now, forgottenBefore }));
}

const list = (after: UpstreamEvent | null = null, limit = 100) =>
  listUpstreamEvents(database, { now: clock.now(), after, limit });
const describeAll = async () =>
  (await list()).map(({ kind, subject, detail }) => `${kind} ${subject}: ${detail}`).toReversed();

test("a circuit opens once, in the first process, and closes once, in the last", async () => {
  await report("a", broken("degraded", "timeout"));
  await report("a", broken("open", "timeout"));
  await report("b", broken("open", "overloaded"));
  await report("a", broken("half-open", "timeout"));
  await report("a");
  expect(await describeAll()).toEqual(["circuit_opened acme/large: key 2, timeout"]);
  await report("b");
  await report("b");
  expect((await describeAll()).slice(1)).toEqual(["circuit_closed acme/large: key 2"]);
});

test("processes that report at the same time record one opening and one closing", async () => {
  const nodes = ["a", "b", "c", "d"];
  await Promise.all(nodes.map((node) => report(node, broken("open", "timeout", null))));
  await Promise.all(nodes.map((node) => report(node)));
  expect(await describeAll()).toEqual(["circuit_opened acme: key 2, timeout", "circuit_closed acme: key 2"]);
});

test("a switched-off upstream is no open circuit; a missing key is", async () => {
  await report("a", broken("open", "disabled acme"), broken("open", "missing-secret ACME_KEY", "small"));
  expect(await describeAll()).toEqual(["circuit_opened acme/small: key 2, missing-secret ACME_KEY"]);
});

test("the circuit of a process that is gone closes by the job", async () => {
  await report("a", broken("open", "timeout"));
  await sweepUpstreamEvents({ database, clock });
  expect(await describeAll()).toHaveLength(1);
  clock.advance(91_000);
  await sweepUpstreamEvents({ database, clock });
  await sweepUpstreamEvents({ database, clock });
  expect((await describeAll()).slice(1)).toEqual(["circuit_closed acme/large: key 2, its process is gone"]);
});

test("events are kept for 90 days, and 20,000 of them", async () => {
  const event = { kind: "test_passed" as const, providerId: "acme", upstreamModel: null, keyNumber: null, actor: "op" };
  const at = (days: number): Date => new Date(clock.now().getTime() - days * dayMs);
  await insertUpstreamEvents(database, [
    { ...event, at: at(91), detail: "old" },
    { ...event, at: at(89), detail: "kept" },
  ]);
  await sweepUpstreamEvents({ database, clock });
  expect((await list()).map(({ detail }) => detail)).toEqual(["kept"]);
  const many = Array.from({ length: 5000 }, (_, index) => ({ ...event, at: clock.now(), detail: String(index) }));
  for (let round = 0; round < 4; round += 1) await insertUpstreamEvents(database, many);
  await sweepUpstreamEvents({ database, clock });
  const { count } = await database
    .selectFrom("upstream_events")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  expect(Number(count)).toBe(20_000);
  expect((await list()).map(({ detail }) => detail)).not.toContain("kept");
});

test("pages of any length have every event once, in order, also those of one moment", async () => {
  const event = { kind: "test_failed" as const, providerId: "acme", upstreamModel: null, keyNumber: null, actor: "op" };
  const at = clock.now();
  await insertUpstreamEvents(
    database,
    Array.from({ length: 23 }, (_, index) => ({
      ...event,
      at: new Date(at.getTime() - (index % 3)),
      detail: String(index),
    })),
  );
  const all = (await list()).map(({ detail }) => detail);
  expect(new Set(all).size).toBe(23);
  for (const length of [1, 4, 22]) {
    const seen: (string | null)[] = [];
    for (let after: UpstreamEvent | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
      const page: UpstreamEvent[] = await list(after, length);
      seen.push(...page.map(({ detail }) => detail));
      after = page.at(-1) ?? null;
    }
    expect(seen).toEqual(all);
  }
});
