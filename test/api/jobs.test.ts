import { sql } from "kysely";
import { expect, test } from "vitest";
import { listJobs } from "../../src/app/list-jobs.ts";
import { findFreeze } from "../../src/features/ledger/index.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { createMetrics } from "../../src/platform/observability/metrics.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";
import { startGateway } from "../harness/test-gateway.ts";

function createJobs(world: TestLedger) {
  const logs: Record<string, unknown>[] = [];
  const logger = createLogger({ level: "info", format: "json", write: (line) => logs.push(JSON.parse(line)) });
  const metrics = createMetrics();
  const nothing = async () => {};
  const upkeep = {
    ...{ removeExpiredFiles: nothing, sweepCheckouts: nothing, sweepResponses: nothing },
    ...{ topUpAccounts: nothing, raiseAlerts: nothing, issueStatements: nothing, sendNotices: nothing },
    checkAlarms: nothing,
    applyScheduledCatalogs: nothing,
    pollVendorBalances: nothing,
    sweepViews: nothing,
    eraseLateRows: nothing,
  };
  const jobs = listJobs({
    ...world.parts,
    currency: "USD",
    logger,
    metrics,
    requestLogDays: 30,
    contentLogDays: 7,
    retention: { taskDays: 0, promptDays: 0 },
    ...upkeep,
  });
  const run = async (name: string): Promise<void> => {
    const job = jobs.find((candidate) => candidate.name === name);
    if (job === undefined) throw new Error(`no job ${name}`);
    await job.run(AbortSignal.timeout(60_000));
  };
  return { run, logs };
}

test("a gateway schedules every job", async () => {
  await using gateway = await startGateway();
  const { rows } = await sql<{ name: string; schedule: object }>`
    select name, schedule from scheduled_jobs order by name`.execute(gateway.database);
  const [everyMinute, everyHour, everyNight] = [{}, { minute: 23 }, { hour: 3, minute: 17 }];
  expect(rows).toEqual([
    { name: "apply-scheduled-catalogs", schedule: everyMinute },
    { name: "check-alarms", schedule: everyMinute },
    { name: "check-all-accounts", schedule: everyNight },
    { name: "check-changed-accounts", schedule: everyMinute },
    { name: "count-traffic", schedule: everyMinute },
    { name: "end-account-views", schedule: everyMinute },
    { name: "erase-late-rows", schedule: everyHour },
    { name: "forget-connect-requests", schedule: everyHour },
    { name: "forget-idempotency-keys", schedule: everyMinute },
    { name: "forget-old-events", schedule: everyHour },
    { name: "forget-old-sign-ins", schedule: everyHour },
    { name: "forget-old-tasks", schedule: everyHour },
    { name: "issue-statements", schedule: everyHour },
    { name: "make-months", schedule: everyHour },
    { name: "pack-request-log", schedule: everyHour },
    { name: "poll-vendor-balances", schedule: everyMinute },
    { name: "raise-alerts", schedule: everyMinute },
    { name: "reconcile-tasks", schedule: everyNight },
    { name: "remove-expired-files", schedule: everyMinute },
    { name: "renew-plans", schedule: everyMinute },
    { name: "roll-request-log", schedule: everyHour },
    { name: "roll-up-usage", schedule: everyMinute },
    { name: "send-notices", schedule: everyMinute },
    { name: "sum-money-slots", schedule: everyMinute },
    { name: "sweep-checkouts", schedule: everyMinute },
    { name: "sweep-ledger", schedule: everyMinute },
    { name: "sweep-responses", schedule: everyMinute },
    { name: "sweep-upstream-events", schedule: everyMinute },
    { name: "top-up-accounts", schedule: everyMinute },
    { name: "verify-ledger", schedule: everyMinute },
  ]);
});

test.each(["check-changed-accounts", "check-all-accounts"])(
  "%s freezes an account with a broken invariant, and logs it",
  async (name) => {
    await using world = await openTestLedger();
    const accountId = await world.createAccount(10n);
    const { run, logs } = createJobs(world);
    await run(name);
    expect(logs).toEqual([]);
    await sql`update buckets set posted = 11 where account_id = ${accountId}`.execute(world.database);
    await run(name);
    expect(logs).toMatchObject([{ level: "error", frozen: [accountId], violations: expect.any(Array) }]);
    expect(await findFreeze(world.database, accountId)).not.toBeNull();
    expect(await world.ledger.apply(world.hold(accountId, 1n))).toMatchObject({ reason: "account-frozen" });
  },
);

test("sweep-ledger ends all expired holds, also more than one batch", async () => {
  await using world = await openTestLedger();
  const accountId = await world.createAccount(1000n);
  const holds = Array.from({ length: 450 }, () => world.hold(accountId, 1n));
  await Promise.all(holds.map((hold) => world.ledger.apply(hold)));
  world.clock.advance(15 * 60_000);
  await createJobs(world).run("sweep-ledger");
  const { rows } = await sql<{ state: string; count: bigint }>`
    select state, count(*) from holds group by state`.execute(world.database);
  expect(rows).toEqual([{ state: "expired", count: 450n }]);
  // The process that opened them is notified and can spend the money again.
  expect(await world.ledger.apply(world.hold(accountId, 1000n))).toMatchObject({ kind: "held" });
});

test("sweep-ledger skips an account that fails, ends the others, and logs the failure", async () => {
  await using world = await openTestLedger();
  const broken = await world.createAccount(10n);
  const sound = await world.createAccount(10n);
  await world.ledger.apply(world.hold(broken, 5n));
  world.clock.advance(1);
  await world.ledger.apply(world.hold(sound, 5n));
  await sql`update buckets set held = 0 where account_id = ${broken}`.execute(world.database);
  world.clock.advance(15 * 60_000);
  const { run, logs } = createJobs(world);
  await run("sweep-ledger");
  const { rows } = await sql<{ account_id: string; state: string }>`
    select account_id, state from holds order by opened_at`.execute(world.database);
  expect(rows).toEqual([
    { account_id: broken, state: "open" },
    { account_id: sound, state: "expired" },
  ]);
  expect(logs).toMatchObject([{ level: "error", account_id: broken, kind: "expire-hold" }]);
});

test("expired gifts that are still held do not make the sweep loop forever", async () => {
  await using world = await openTestLedger();
  const accountId = await world.createAccount();
  const cause = { kind: "operator", id: "act_test" } as const;
  const expiresAt = new Date(world.clock.now().getTime() + 60_000);
  const gifts = Array.from({ length: 201 }, () => ({
    kind: "grant" as const,
    id: world.parts.ids.next("txn"),
    accountId,
    unit: "money" as const,
    amount: 1n,
    expiresAt,
    channel: "operator",
    cause,
  }));
  await Promise.all(gifts.map((gift) => world.ledger.apply(gift)));
  const hold = world.hold(accountId, 201n);
  await world.ledger.apply(hold);
  world.clock.advance(60_000);
  await createJobs(world).run("sweep-ledger");
  expect(await world.ledger.apply(world.settle(accountId, hold.id, 1n))).toMatchObject({ kind: "settled" });
  await createJobs(world).run("sweep-ledger");
  const { rows } = await sql<{ left: bigint }>`
    select count(*) as left from buckets where is_open and kind = 'gift'`.execute(world.database);
  expect(rows).toEqual([{ left: 0n }]);
});
