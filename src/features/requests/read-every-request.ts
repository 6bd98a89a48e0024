import type { AccountId } from "../../lib/ids.ts";
import { presentMoney } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { everyCall, type RequestPlace } from "./request-filter.ts";
import type { ReadRequest } from "./request-record.ts";
import { listRequests } from "./request-store.ts";

const readAtOnce = 500;

/** All calls of an account as lines of JSON, newest first, without what only operators see. */
export async function* readEveryRequest(database: Database, accountId: AccountId): AsyncGenerator<string> {
  for (let after: RequestPlace | null = null; ; ) {
    const records: ReadRequest[] = await listRequests(database, { ...everyCall, accountId, after }, readAtOnce);
    yield records.map((record) => `${JSON.stringify(presentRecord(record))}\n`).join("");
    const last = records.at(-1);
    if (last === undefined || records.length < readAtOnce) return;
    after = last;
  }
}

function presentRecord(record: ReadRequest): Record<string, unknown> {
  return {
    id: record.id,
    created_at: record.createdAt.toISOString(),
    client_request_id: record.clientRequestId,
    key_id: record.keyId,
    method: record.method,
    route: record.route,
    model: record.model,
    status: record.status,
    error_code: record.errorCode,
    error_message: record.error?.message ?? null,
    latency_ms: record.durationMs,
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    charge: record.charge === null ? null : presentMoney(record.charge),
    charge_id: record.chargeId,
    task_id: record.taskId,
    user_agent: record.userAgent,
  };
}
