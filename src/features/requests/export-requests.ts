import { presentCsvLine } from "../../lib/csv.ts";
import { presentMoney } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { addTaskCharges, type RequestReading } from "./read-requests.ts";
import type { RequestFilter, RequestPlace } from "./request-filter.ts";
import type { ReadRequest } from "./request-record.ts";
import { countRequests, listRequests } from "./request-store.ts";

const linesMax = 100_000;
const linesAtOnce = 1000;

const columns: readonly (readonly [name: string, get: (record: ReadRequest) => string | number | boolean | null])[] = [
  ["id", ({ id }) => id],
  ["created_at", ({ createdAt }) => createdAt.toISOString()],
  ["client_request_id", ({ clientRequestId }) => clientRequestId],
  ["key_id", ({ keyId }) => keyId],
  ["wire", ({ wire }) => wire],
  ["method", ({ method }) => method],
  ["route", ({ route }) => route],
  ["model", ({ model }) => model],
  ["status", ({ status }) => status],
  ["error_code", ({ errorCode }) => errorCode],
  ["ending", ({ ending }) => ending],
  ["latency_ms", ({ durationMs }) => durationMs],
  ["time_to_first_token_ms", ({ firstTokenMs }) => firstTokenMs],
  ["input_tokens", ({ inputTokens }) => inputTokens],
  ["cached_input_tokens", ({ cachedInputTokens }) => cachedInputTokens],
  ["cache_write_tokens", ({ cacheWriteTokens }) => cacheWriteTokens],
  ["audio_input_tokens", ({ audioInputTokens }) => audioInputTokens],
  ["output_tokens", ({ outputTokens }) => outputTokens],
  ["reasoning_tokens", ({ reasoningTokens }) => reasoningTokens],
  ["audio_output_tokens", ({ audioOutputTokens }) => audioOutputTokens],
  ["charge", ({ charge }) => (charge === null ? null : presentMoney(charge))],
  ["charge_id", ({ chargeId }) => chargeId],
  ["task_id", ({ taskId }) => taskId],
  ["user_agent", ({ userAgent }) => userAgent],
  ["replayed", ({ isReplayed }) => isReplayed],
  ["error_message", ({ error }) => error?.message ?? null],
  ["error_param", ({ error }) => error?.param ?? null],
];

/** Requests as CSV, newest first, streamed with back-pressure. */
export async function openRequestCsv(
  { database }: Pick<RequestReading, "database">,
  filter: RequestFilter,
): Promise<AsyncGenerator<string, void>> {
  if ((await countRequests(database, filter, linesMax + 1)) > linesMax) {
    throw new AppError("invalid_parameter", `The export has more than ${linesMax} lines. Choose a shorter period.`, {
      param: "from",
    });
  }
  return writeLines(database, filter);
}

async function* writeLines(database: Database, filter: RequestFilter): AsyncGenerator<string, void> {
  yield presentCsvLine(columns.map(([name]) => name));
  let after: RequestPlace | null = null;
  // The limit also holds if calls are added meanwhile.
  for (let written = 0; written < linesMax; written += linesAtOnce) {
    const records: ReadRequest[] = await listRequests(database, { ...filter, after }, linesAtOnce);
    yield (await addTaskCharges(database, filter.accountId, records)).map(presentLine).join("");
    if (records.length < linesAtOnce) return;
    after = records.at(-1) ?? null;
  }
}

function presentLine(record: ReadRequest): string {
  return presentCsvLine(columns.map(([, get]) => String(get(record) ?? "")));
}
