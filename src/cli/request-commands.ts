import { type ShownRequest, showRequest } from "../features/requests/index.ts";
import { getTask, type Task } from "../features/tasks/index.ts";
import { presentMoney } from "../lib/money.ts";
import type { Command } from "./command.ts";
import { presentRows } from "./present-rows.ts";
import { withDatabase } from "./with-database.ts";

const showCommand: Command = {
  name: "request show",
  summary: "Show a request of any account, including operator-only data: its upstream and failed attempts.",
  positionals: ["request id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      const request = await showRequest(database, id);
      const task = request.taskId === null ? null : await findTask(database, request.taskId);
      const json = presentRequest(request, task);
      const { failed_attempts: attempts, ...fields } = json;
      const charge = json.charge === null ? null : `${json.charge} ${currency}`;
      const lines = Object.entries({ ...fields, charge }).flatMap(([name, value]) =>
        value === null ? [] : [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]],
      );
      const tables = [presentRows(["FIELD", "VALUE"], lines)];
      if (attempts.length > 0) tables.push(presentRows(heading, attempts.map(toRow)));
      return { json, text: tables.join("\n\n") };
    }),
};

const heading = [
  "FAILED AT",
  "UPSTREAM MODEL",
  "KEY",
  "FAILURE",
  "STATUS",
  "CODE",
  "AFTER",
  "VENDOR'S REQUEST ID",
  "MESSAGE",
];

type PresentedAttempt = ReturnType<typeof presentRequest>["failed_attempts"][number];

function toRow(attempt: PresentedAttempt): string[] {
  const { upstream, upstream_model: model, upstream_key: key, failure, status, code, duration_ms: ms, said } = attempt;
  const { upstream_request_id: requestId } = attempt;
  return [
    upstream,
    model,
    String(key),
    failure,
    String(status ?? ""),
    code ?? "",
    `${ms} ms`,
    requestId ?? "",
    said ?? "",
  ];
}

/** `null` for a task that is no longer stored. */
async function findTask(database: Parameters<typeof getTask>[0], id: string): Promise<Task | null> {
  return await getTask(database, { id }).catch(() => null);
}

function presentRequest(request: ShownRequest, task: Task | null) {
  return {
    id: request.id,
    created_at: request.createdAt.toISOString(),
    account: request.accountId,
    key: request.keyId,
    client_request_id: request.clientRequestId,
    method: request.method,
    route: request.route,
    model: request.model,
    status: request.status,
    error_code: request.errorCode,
    error_message: request.error?.message ?? null,
    error_param: request.error?.param ?? null,
    ending: request.ending,
    duration_ms: request.durationMs,
    first_token_ms: request.firstTokenMs,
    input_tokens: request.inputTokens,
    output_tokens: request.outputTokens,
    charge: request.charge === null ? null : presentMoney(request.charge),
    charge_id: request.chargeId,
    task: request.taskId,
    user_agent: request.userAgent,
    replayed: request.isReplayed,
    upstream: request.upstream ?? task?.target?.providerId ?? null,
    upstream_request_id: request.upstreamRequestId,
    failed_attempts: request.failedAttempts.map((attempt) => ({
      upstream: attempt.upstream,
      upstream_model: attempt.upstreamModel,
      upstream_key: attempt.keyNumber,
      failure: attempt.kind,
      status: attempt.status,
      code: attempt.code,
      said: attempt.said,
      upstream_request_id: attempt.upstreamRequestId ?? null,
      duration_ms: attempt.durationMs,
    })),
  };
}

export const requestCommands: readonly Command[] = [showCommand];
