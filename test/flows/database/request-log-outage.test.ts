// @module-tag extended
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createContentSeal, createRequestLog, type RequestLog } from "../../../src/features/requests/index.ts";
import { everyCall } from "../../../src/features/requests/request-filter.ts";
import type { RequestRecord } from "../../../src/features/requests/request-record.ts";
import { listRequests } from "../../../src/features/requests/request-store.ts";
import { createByteAllowance } from "../../../src/lib/byte-allowance.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { type AccountId, createIdSource } from "../../../src/lib/ids.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { BodyExcerpt } from "../../../src/platform/http/body-excerpt.ts";
import { createLogger } from "../../../src/platform/observability/logger.ts";
import { createMetrics } from "../../../src/platform/observability/metrics.ts";
import { type GatedDatabase, openGatedDatabase } from "../../harness/servers/gated-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const ids = createIdSource({ clock: systemClock, randomBytes });
const connect = (url: string, connectionsMax: number): Database =>
  createDatabase({ address: { connectionString: url }, connectionsMax, onConnectionError: () => {} });

let gated: GatedDatabase;
/** Connections around the gate, and through it. */
let direct: Database;
let through: Database;
beforeAll(async () => {
  gated = await openGatedDatabase();
  direct = connect(gated.direct.url, 2);
  through = connect(gated.url, 2);
});
afterAll(async () => {
  await direct.destroy();
  await through.destroy();
  await gated[Symbol.asyncDispose]();
});

function openLog(limits: { waitingMax?: number; batchMax?: number } = {}): RequestLog {
  const logger = createLogger({ level: "error", format: "json", write: () => {} });
  const contentSeal = createContentSeal({ masterKey: { derive: () => Buffer.alloc(32) }, randomBytes });
  return createRequestLog({
    ...{ database: through, clock: systemClock, ids, logger, metrics: createMetrics(), contentSeal },
    limits: { gatherMs: 20, ...limits },
  });
}

function describeRecord(accountId: AccountId, more: Partial<RequestRecord> = {}): RequestRecord {
  return {
    ...{ id: ids.next("req"), createdAt: new Date(), accountId, keyId: ids.next("key"), clientRequestId: null },
    ...{ wire: "chat", method: "POST", route: null, model: "open", status: 200, errorCode: null, ending: "answered" },
    ...{ durationMs: 1, firstTokenMs: null, inputTokens: null, cachedInputTokens: null, cacheWriteTokens: null },
    ...{ outputTokens: null, reasoningTokens: null, audioInputTokens: null, audioOutputTokens: null, charge: null },
    ...{ chargeId: null, taskId: null, userAgent: null, isReplayed: false },
    ...more,
  };
}

async function listWritten(accountId: AccountId): Promise<string[]> {
  return (await listRequests(direct, { ...everyCall, accountId }, 100)).map(({ id }) => id).toSorted();
}

async function listLost(accountId: AccountId): Promise<number[]> {
  const query = direct.selectFrom("request_gaps").select("lost").where("account_id", "=", accountId);
  return (await query.execute()).map(({ lost }) => lost);
}

test("during a database outage records wait, with their contents; the overflow is recorded as a gap afterwards", async () => {
  const accountId = ids.next("acct");
  const log = openLog({ waitingMax: 3 });
  await gated.gate.close();
  const records = [1, 2, 3, 4, 5].map(() => describeRecord(accountId));
  const limits = { bytesMax: 4096, wordBytesMax: 1024, wordBytesShown: 64 };
  const excerpt = new BodyExcerpt(limits, createByteAllowance(8192));
  excerpt.add(Buffer.from('{"model":"open"}'));
  const none = { contentType: null, bytes: 0, excerpt: null };
  const content = { request: { contentType: "application/json", bytes: null, excerpt }, answer: none };
  for (const [index, record] of records.entries()) log.note(record, index === 0 ? content : null);
  expect([await listWritten(accountId), await listLost(accountId)]).toEqual([[], []]);
  await gated.gate.open();
  const kept = records.slice(0, 3).map(({ id }) => id);
  await waitUntil("the calls to be written", async () => (await listWritten(accountId)).length === 3);
  await waitUntil("the gap to be told", async () => (await listLost(accountId)).length === 1);
  expect([await listWritten(accountId), await listLost(accountId)]).toEqual([kept.toSorted(), [2]]);
  const contents = await direct.selectFrom("request_contents").select(["id", "state"]).execute();
  expect(contents).toEqual([{ id: kept[0], state: "kept" }]);
  await log.close();
});

test("records whose commit was not acknowledged are neither written twice nor counted as lost", async () => {
  const accountId = ids.next("acct");
  const log = openLog();
  const good = [describeRecord(accountId), describeRecord(accountId)];
  const last = describeRecord(accountId);
  const bad = describeRecord(accountId, { model: "half of a \ud800 pair \0" });
  const isWaiting = async (): Promise<boolean> => {
    const { rows } = await sql`select 1 from pg_locks where not granted`.execute(direct);
    return rows.length > 0;
  };
  await direct.transaction().execute(async (tx) => {
    await sql`lock table request_blocks in access exclusive mode`.execute(tx);
    for (const record of good) log.note(record);
    await waitUntil("the calls to be on their way", isWaiting);
    // The server does not notice that the connection has gone until it answers.
    gated.gate.cut();
    log.note(bad);
    // A gap is written with the next record.
    log.note(last);
  });
  await waitUntil("the gap to be told", async () => (await listLost(accountId)).length === 1);
  await log.close();
  const kept = [...good, last].map(({ id }) => id).toSorted();
  expect([await listWritten(accountId), await listLost(accountId)]).toEqual([kept, [1]]);
});

test("records that were created and amended during an outage are written in their latest state", async () => {
  const accountId = ids.next("acct");
  const log = openLog({ batchMax: 1 });
  await gated.gate.close();
  const record = describeRecord(accountId);
  log.note(record);
  log.amend({ ...record, inputTokens: 3, outputTokens: 4, chargeId: "txn_1" });
  await gated.gate.open();
  const written = await waitUntil("the charge to be written", async () => {
    const found = await listRequests(direct, { ...everyCall, accountId }, 100);
    return found[0]?.chargeId === "txn_1" ? found : null;
  });
  expect(written).toMatchObject([{ id: record.id, inputTokens: 3, outputTokens: 4 }]);
  await log.close();
});
