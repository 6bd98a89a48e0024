import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import type { BlockRecord } from "../src/features/requests/request-block.ts";
import { insertRequests } from "../src/features/requests/request-store.ts";
import { systemClock } from "../src/lib/clock.ts";
import { type AccountId, createIdSource } from "../src/lib/ids.ts";
import { nano } from "../src/lib/money.ts";
import { createDatabase } from "../src/platform/database/database.ts";
import { describeModels } from "./chat-targets.ts";
import { readClusterAddress } from "./cluster-address.ts";
import { findMedian } from "./measure-cpu.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const pageGoalMsMax = 100;
const pageReads = 5;
const dayMs = 86_400_000;
const portion = 20_000;

/** One account: most calls with one model and one key, one in thirty an error, one in a million of a unique kind. */
export function describeCall(accountId: AccountId, number: number, createdAt: Date): BlockRecord {
  const isRare = (rest: number): boolean => number % 1_000_000 === rest;
  const failure = findFailure(number, isRare(13));
  return {
    ...{ accountId, createdAt, id: `req_${String(number).padStart(26, "0")}`, method: "POST" },
    keyId: `key_bench${isRare(7) ? 99 : number % 5}`,
    clientRequestId: number % 10 === 0 ? `trace-${number}` : null,
    wire: isRare(9) ? "dramas" : "chat",
    route: "/v1/chat/completions",
    model: isRare(11) ? "rare" : number % 3 === 0 ? "small" : "large",
    ...failure,
    ...{ durationMs: number % 5000, firstTokenMs: number % 500, inputTokens: 120, cachedInputTokens: 0 },
    ...{ cacheWriteTokens: 0, outputTokens: 60, reasoningTokens: 0, audioInputTokens: 0, audioOutputTokens: 0 },
    ...{ charge: nano(54_000n), chargeId: `txn_${String(number).padStart(26, "0")}`, taskId: null },
    ...{ userAgent: "OpenAI/Python 2.1.0", isReplayed: false, isAmendment: false },
  };
}

function findFailure(number: number, isRare: boolean): Pick<BlockRecord, "status" | "errorCode" | "ending"> {
  if (isRare) return { status: 503, errorCode: "upstream_unavailable", ending: "failed" };
  if (number % 30 === 0) return { status: 429, errorCode: "rate_limit_exceeded", ending: "refused" };
  return { status: 200, errorCode: null, ending: "answered" };
}

const pages: readonly [name: string, path: string][] = [
  ["newest", "?limit=50"],
  ["a frequent model", "?limit=50&model=large"],
  ["a rare model", "?limit=50&model=rare"],
  ["a rare key", "?limit=50&key_id=key_bench99"],
  ["errors", "?limit=50&status=4xx"],
  ["rare errors", "?limit=50&status=5xx"],
  ["a rare status", "?limit=50&status=503"],
  ["a rare error code", "?limit=50&error_code=upstream_unavailable"],
  ["a client request id", "?client_request_id=trace-7654320"],
  ["a rare wire", "?limit=50&wire=dramas"],
  ["a rare model and a frequent key", "?limit=50&model=rare&key_id=key_bench1"],
  ["a day, three weeks ago", "?limit=50&from=$then&model=large"],
  ["summary of the last hour", "/summary?from=$hour"],
  ["summary of all", "/summary"],
];

/** The cost of a page of a grown request log: `npm run bench -- requests --millions 10`. */
export async function measureRequests(words: string[]): Promise<void> {
  const { values } = parseArgs({ args: words, options: { millions: { type: "string", default: "10" } } });
  const count = Number(values.millions) * 1_000_000;
  const gateway = await startSluice(describeModels(1));
  try {
    const tookMs = await fill(gateway, count);
    const rows = [["fill", `${(tookMs / 1000).toFixed(0)} s`, "", ""]];
    for (const page of pages) rows.push(await measurePage(gateway, page));
    const title = `A log of ${count} calls of one account, over 29 days.`;
    writeResults("requests", `${title}\n\n${presentTable(["what", "figure", "goal", "verdict"], rows)}`);
  } finally {
    await gateway.close();
  }
}

/** Fills the log as it is after packing. */
async function fill({ dataDir }: SluiceGateway, count: number): Promise<number> {
  const database = createDatabase({
    ...{ address: readClusterAddress(dataDir), connectionsMax: 1, onConnectionError() {} },
  });
  const startedAt = performance.now();
  try {
    await sql`select make_partitions('request_blocks', 'month', now() - interval '30 days', now())`.execute(database);
    const { id } = await database
      .selectFrom("accounts")
      .select("id")
      .where("email", "=", "bench@example.com")
      .executeTakeFirstOrThrow();
    const from = Date.now() - 29 * dayMs;
    const ids = createIdSource({ clock: systemClock, randomBytes });
    for (let first = 1; first <= count; first += portion) {
      const records = Array.from({ length: Math.min(portion, count - first + 1) }, (_, index) => {
        const number = first + index;
        return describeCall(id as AccountId, number, new Date(Math.floor(from + (29 * dayMs * number) / count)));
      });
      await insertRequests(database, records, { nextId: () => ids.next("blk") });
      if (first % 1_000_000 === 1) console.error(`${first - 1} of ${count} calls`);
    }
    await sql`analyze request_blocks`.execute(database);
  } finally {
    await database.destroy();
  }
  return performance.now() - startedAt;
}

async function measurePage({ port, headers }: SluiceGateway, [name, path]: (typeof pages)[number]): Promise<string[]> {
  const before = (ms: number): string => new Date(Date.now() - ms).toISOString();
  const filled = path.replace("$then", before(21 * dayMs)).replace("$hour", before(3_600_000));
  const tookMs: number[] = [];
  for (let read = 0; read <= pageReads; read += 1) {
    const startedAt = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/v1/requests${filled}`, { headers });
    const text = await answer.text();
    if (!answer.ok || text.includes('"data":[]')) throw new Error(`${path}: ${answer.status} ${text}`);
    // The first one warms connections up.
    if (read > 0) tookMs.push(performance.now() - startedAt);
  }
  const medianMs = findMedian(tookMs);
  const isPage = !path.startsWith("/summary");
  const verdict = medianMs <= pageGoalMsMax ? "met" : "MISSED";
  return [name, `${medianMs.toFixed(0)} ms`, isPage ? `≤ ${pageGoalMsMax} ms` : "", isPage ? verdict : ""];
}
