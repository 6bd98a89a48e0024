import { sql } from "kysely";
import type { RequestLog } from "../../src/features/requests/index.ts";
import { type AccountId, type IdSource, type KeyId, readIdTime } from "../../src/lib/ids.ts";
import { invariant } from "../../src/lib/invariant.ts";
import type { Nano } from "../../src/lib/money.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { demoTeams, type PastCall } from "./demo-teams.ts";
import type { Chance } from "./seeded-chance.ts";

type Entry = Parameters<RequestLog["note"]>[0];

/** A call with its charge. */
export type PaidCall = { call: PastCall; requestId: string; keyId: KeyId; charge: Nano; chargeId: string };

type Diary = {
  requestLog: Pick<RequestLog, "note">;
  ids: IdSource;
  chance: Chance;
  accountId: AccountId;
  /** Older calls are outside the log's retention. */
  loggedFrom: Date;
};

const routes: Record<PastCall["wire"], string> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  embeddings: "/v1/embeddings",
};

type Failure = Pick<Entry, "status" | "errorCode" | "ending" | "error">;

/** Occasional errors; they are not charged. */
const failures: readonly [Failure, ...Failure[]] = [
  {
    ...{ status: 429, errorCode: "rate_limit_exceeded", ending: "refused" },
    error: { message: "The key reached its limit of 600 requests per minute. Retry after 2 s.", param: null },
  },
  {
    ...{ status: 429, errorCode: "token_limit_exceeded", ending: "refused" },
    error: { message: "The account reached its limit of 1000000 tokens per minute. Retry after 9 s.", param: null },
  },
  {
    ...{ status: 400, errorCode: "context_length_exceeded", ending: "refused" },
    error: { message: "The request exceeds the model's context window. Shorten the messages.", param: "messages" },
  },
  {
    ...{ status: 503, errorCode: "upstream_unavailable", ending: "failed" },
    error: { message: "The model did not respond. Retry after Retry-After.", param: null },
  },
  { status: 499, errorCode: null, ending: "hung_up" },
];
const failureChance = 0.04;

/** Creates the log's past partitions; the gateway creates only future ones. */
export async function makePastPartitions(database: Database, from: Date, to: Date): Promise<void> {
  await sql`select make_partitions('request_blocks', 'month', ${from}, ${to})`.execute(database);
}

/** Writes past calls to the request log, including some that failed. */
export function logPastCalls(
  { requestLog, ids, chance, accountId, loggedFrom }: Diary,
  calls: readonly PaidCall[],
): void {
  for (const { call, requestId, keyId, charge, chargeId } of calls) {
    const common = { ...describeCall(call, chance), accountId, keyId };
    if (readTime(requestId) < loggedFrom) continue;
    const paid = { charge, chargeId, status: 200, errorCode: null, ending: "answered" as const };
    requestLog.note({ ...common, ...paid, id: requestId, createdAt: readTime(requestId) });
    if (chance.next() >= failureChance) continue;
    const id = ids.next("req");
    const failure = { ...chance.pick(failures), ...unanswered, durationMs: chance.between(2, 900) };
    requestLog.note({ ...common, ...failure, id, createdAt: readTime(id) });
  }
}

const unanswered = {
  ...{ charge: null, chargeId: null, firstTokenMs: null },
  ...{ inputTokens: null, cachedInputTokens: null, outputTokens: null },
};

function describeCall({ team, wire, model, inputTokens, cachedInputTokens, outputTokens }: PastCall, chance: Chance) {
  const firstTokenMs = wire === "embeddings" ? null : chance.between(180, 900);
  return {
    ...{ wire, model, inputTokens, cachedInputTokens, outputTokens, firstTokenMs },
    ...{ method: "POST", route: routes[wire], userAgent: demoTeams[team].userAgent },
    durationMs: (firstTokenMs ?? chance.between(20, 120)) + outputTokens * chance.between(7, 16),
    ...{ clientRequestId: null, taskId: null, isReplayed: false },
    ...{ cacheWriteTokens: 0, reasoningTokens: 0, audioInputTokens: 0, audioOutputTokens: 0 },
  };
}

function readTime(id: string): Date {
  const time = readIdTime(id);
  invariant(time !== null, `${id} has no time`);
  return time;
}
