// @module-tag slow
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listAnyRequests, packRequestLog } from "../../src/features/requests/index.ts";
import type { BlockRecord } from "../../src/features/requests/request-block.ts";
import {
  everyCall,
  matches,
  type RequestFilter,
  type RequestPlace,
} from "../../src/features/requests/request-filter.ts";
import { countRequests, insertRequests, listRequests } from "../../src/features/requests/request-store.ts";
import { summarizeRequests } from "../../src/features/requests/summarize-requests.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { type AccountId, createIdSource } from "../../src/lib/ids.ts";
import { createDatabase, type Database } from "../../src/platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";

const ids = createIdSource({ clock: systemClock, randomBytes });
const nextId = () => ids.next("blk");
const hourMs = 3_600_000;
const start = Date.UTC(2026, 10, 18, 9);
const later = new Date(start + 12 * hourMs);

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({
    address: { connectionString: testDatabase.url },
    connectionsMax: 2,
    onConnectionError: () => {},
  });
});
afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

const plain: Omit<BlockRecord, "id" | "accountId" | "createdAt" | "keyId" | "model" | "status"> = {
  ...{ clientRequestId: null, wire: "chat", method: "POST", route: "/v1/chat/completions", errorCode: null },
  ...{ ending: "answered", durationMs: 1, firstTokenMs: null, inputTokens: null, cachedInputTokens: null },
  ...{ cacheWriteTokens: null, outputTokens: null, reasoningTokens: null, audioInputTokens: null },
  ...{ audioOutputTokens: null, charge: null, chargeId: null, taskId: null, userAgent: null, isReplayed: false },
  ...{ upstream: null, upstreamRequestId: null, failedAttempts: [], error: null, isAmendment: false },
};

/** A short history: batches of calls of different lengths, some of them amended later. */
type Draw = { ageMs: number; model: string; key: 1 | 2; status: number; isAmended: boolean };
const draw: fc.Arbitrary<Draw> = fc.record({
  ageMs: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 3 * hourMs })),
  model: fc.constantFrom("small", "large", "rare"),
  key: fc.constantFrom(1, 2),
  status: fc.constantFrom(200, 200, 200, 429, 503),
  isAmended: fc.boolean(),
});
const history = fc.array(fc.array(draw, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 25 });

function makeBatches(accountId: AccountId, drawn: readonly (readonly Draw[])[]): BlockRecord[][] {
  const amendments: BlockRecord[] = [];
  const batches = drawn.map((batch) =>
    batch.map(({ ageMs, model, key, status, isAmended }) => {
      const createdAt = new Date(start + 3 * hourMs - ageMs);
      const at = createIdSource({ clock: { ...systemClock, now: () => createdAt }, randomBytes });
      const keyId = `key_${key}` as const;
      const record: BlockRecord = { ...plain, accountId, id: at.next("req"), createdAt, keyId, model, status };
      if (isAmended) amendments.push({ ...record, outputTokens: 7, isAmendment: true });
      return record;
    }),
  );
  return amendments.length === 0 ? batches : [...batches, amendments];
}

const filters: readonly Partial<RequestFilter>[] = [
  {},
  { model: "rare" },
  { keyId: "key_2", status: { least: 400, most: 499 } },
  { from: new Date(start + hourMs), to: new Date(start + 2 * hourMs) },
  { errorCode: "nothing" },
];

test("pages, counts and summaries of any history equal those of one list, before and after packing", async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 1, max: 9 }), async (drawn, limit) => {
      const accountId = ids.next("acct");
      const batches = makeBatches(accountId, drawn);
      for (const batch of batches) await insertRequests(database, batch, { nextId });
      const calls = batches.flat().filter(({ isAmendment }) => !isAmendment);
      const amended = new Set(batches.flat().flatMap(({ id, isAmendment }) => (isAmendment ? [id] : [])));
      const check = async (): Promise<void> => {
        for (const part of filters) {
          const filter = { ...everyCall, accountId, ...part };
          const expected = calls.filter((call) => matches(filter, call)).toSorted(newestFirst);
          const found = await listPages(filter, limit);
          expect(found.map(({ id, outputTokens }) => [id, outputTokens])).toEqual(
            expected.map(({ id }) => [id, amended.has(id) ? 7 : null]),
          );
          expect(await countRequests(database, filter, 1000)).toBe(expected.length);
          const clock = { ...systemClock, now: () => later };
          const summary = await summarizeRequests({ database, clock, keptDays: 30 }, { ...filter, to: later });
          const refused = calls.filter((call) => matches({ ...filter, to: later }, call) && call.status >= 400);
          const [, , , clientErrors = 0, serverErrors = 0] = summary.total.byClass;
          expect(clientErrors + serverErrors).toBe(refused.length);
          expect(summary.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(summary.total.count);
        }
      };
      await check();
      await pack();
      await check();
    }),
    { numRuns: 12 },
  );
});

function newestFirst(a: BlockRecord, b: BlockRecord): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1);
}

async function listPages(filter: RequestFilter, limit: number) {
  const found: Awaited<ReturnType<typeof listRequests>> = [];
  for (;;) {
    const page = await listRequests(database, { ...filter, after: found.at(-1) ?? null }, limit);
    found.push(...page);
    if (page.length < limit) return found;
  }
}

async function pack(): Promise<void> {
  const clock = { ...systemClock, now: () => later };
  await packRequestLog({ database: database, clock, ids, signal: new AbortController().signal });
}

test("the list of all accounts has every request of a period once, in order, in pages of any length", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(history, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 9 }),
      async (drawn, limit) => {
        await sql`truncate request_blocks`.execute(database);
        const batches = drawn.flatMap((each) => makeBatches(ids.next("acct"), each));
        for (const batch of batches) await insertRequests(database, batch, { nextId });
        const calls = batches.flat().filter(({ isAmendment }) => !isAmendment);
        for (const part of filters) {
          const { model = null, keyId = null, status = null, errorCode = null } = part;
          const { from = new Date(start - hourMs), to = later } = part;
          const filter = {
            ...{ accountId: null, model, keyId, wire: null, status, errorCode, from, to },
            ...{ upstream: null, hasFailedAttempt: false },
          };
          const expected = calls
            .filter((call) => matches({ ...everyCall, accountId: call.accountId, ...part }, call))
            .toSorted(newestFirst);
          const found: string[] = [];
          for (let after: RequestPlace | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
            const page = await listAnyRequests(database, filter, { after, limit });
            found.push(...page.records.map(({ id }) => id));
            after = page.next;
          }
          expect(found).toEqual(expected.map(({ id }) => id));
        }
      },
    ),
    { numRuns: 8 },
  );
});

test("the list of all accounts is complete where blocks are dense and where they are far apart", async () => {
  await sql`truncate request_blocks`.execute(database);
  const dayMs = 24 * hourMs;
  const agesMs = [
    // More than a page in one moment, and in one minute.
    ...Array.from({ length: 150 }, () => hourMs),
    ...Array.from({ length: 150 }, (_, number) => 2 * hourMs + number * 400),
    ...[3, 5, 9, 20].map((days) => days * dayMs),
    // The beginning of the period.
    ...Array.from({ length: 70 }, () => 28 * dayMs),
  ];
  const calls = agesMs.map((ageMs): BlockRecord => {
    const createdAt = new Date(later.getTime() - ageMs);
    const at = createIdSource({ clock: { ...systemClock, now: () => createdAt }, randomBytes });
    const asked = { keyId: "key_1", model: "small", status: 200 } as const;
    return { ...plain, ...asked, accountId: at.next("acct"), id: at.next("req"), createdAt };
  });
  await insertRequests(database, calls, { nextId });
  const filter = {
    ...{ accountId: null, model: null, keyId: null, wire: null, status: null, errorCode: null },
    ...{ upstream: null, hasFailedAttempt: false, from: new Date(later.getTime() - 28 * dayMs), to: later },
  };
  const { records } = await listAnyRequests(database, filter, { after: null, limit: 1000 });
  expect(records.map(({ id }) => id)).toEqual(calls.toSorted(newestFirst).map(({ id }) => id));
});

async function countBlocks(accountId: AccountId): Promise<number> {
  const { rows } = await sql`select 1 from request_blocks where account_id = ${accountId}`.execute(database);
  return rows.length;
}

test("small blocks of an hour that is over are merged, and nothing of it changes", async () => {
  const accountId = ids.next("acct");
  const one = (ageMs: number): Draw[] => [{ ageMs, model: "large", key: 1, status: 200, isAmended: ageMs === 5 }];
  const batches = makeBatches(
    accountId,
    Array.from({ length: 200 }, (_, second) => one(second * 1000 + 5)),
  );
  for (const batch of batches) await insertRequests(database, batch, { nextId });
  const filter = { ...everyCall, accountId };
  const before = await listRequests(database, filter, 1000);
  expect([before.length, await countBlocks(accountId)]).toEqual([200, 201]);
  await pack();
  expect(await countBlocks(accountId)).toBe(1);
  expect(await listRequests(database, filter, 1000)).toEqual(before);
  expect(await countRequests(database, filter, 1000)).toBe(200);
});

test("calls that version 0.2 wrote, one row each, move into blocks with their errors", async () => {
  const accountId = ids.next("acct");
  const id = ids.next("req");
  const createdAt = new Date(start);
  await sql`
    insert into requests (account_id, created_at, id, key_id, wire, method, route, model, status, error_code, ending, duration_ms,
        charge_nano, is_replayed, upstream, failed_attempts)
      values (${accountId}, ${createdAt}, ${id}, 'key_1', 'chat', 'POST', '/v1/chat/completions', 'large', 404, 'not_found',
        'refused', 3, 9007199254740993, false, 'vendor/model', '[{"upstream":"other"}]')`.execute(database);
  await sql`
    insert into request_errors values (${accountId}, ${createdAt}, ${id}, 'No such model.', 'model')`.execute(database);
  await pack();
  const [found] = await listRequests(database, { ...everyCall, accountId }, 10);
  expect(found).toMatchObject({
    ...{ id, createdAt, accountId, keyId: "key_1", model: "large", status: 404, errorCode: "not_found", durationMs: 3 },
    ...{ charge: 9007199254740993n, error: { message: "No such model.", param: "model" } },
  });
  const { rows } = await sql`select from requests union all select from request_errors`.execute(database);
  expect(rows).toEqual([]);
});

test("a batch that is sent again writes each call once", async () => {
  const accountId = ids.next("acct");
  const [first = [], second = []] = makeBatches(accountId, [
    [{ ageMs: 1, model: "large", key: 1, status: 200, isAmended: false }],
    [{ ageMs: 2, model: "large", key: 1, status: 200, isAmended: false }],
  ]);
  await insertRequests(database, first, { nextId });
  await insertRequests(database, [...first, ...second], { nextId, isSentAgain: true });
  expect(await countRequests(database, { ...everyCall, accountId }, 10)).toBe(2);
});
