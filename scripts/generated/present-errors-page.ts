import { type ErrorCode, errorTable, getErrorEntry } from "../../src/platform/errors/error-table.ts";

/** Generates the API guide's list of errors. */
export function presentErrorsPage(): string {
  const codes = (Object.keys(errorTable) as ErrorCode[]).filter((code) => getErrorEntry(code).isForOperators !== true);
  const rows = codes
    .toSorted((a, b) => getErrorEntry(a).status - getErrorEntry(b).status)
    .map((code) => {
      const { status, type, wireCode, meaning, remedy, isRetryable } = getErrorEntry(code);
      const cells = [status, `\`${wireCode ?? code}\``, `\`${type}\``, meaning, remedy, isRetryable ? "yes" : "no"];
      return `| ${cells.join(" | ")} |`;
    });
  return [
    "# Errors",
    "",
    "<!-- Written from src/platform/errors/error-table.ts by `npm run generate`. -->",
    "",
    "Errors have an HTTP status of 400 or above. Every error has the same body:",
    "",
    "```json",
    JSON.stringify(
      {
        error: {
          message: "`name` is required.",
          type: "invalid_request_error",
          param: "name",
          code: "missing_parameter",
        },
        request_id: "req_01k0c6v3m8x2q4r6t8w0y2z4a6",
      },
      null,
      2,
    ),
    "```",
    "",
    "Match on `type` and `code`, which are stable. `message` is for people and may change. `param` names the invalid field,",
    "query parameter or header, or is `null`. The header `x-request-id` also contains `request_id`: include it in reports.",
    "If a response has `Retry-After`, wait that long before you retry. With `x-should-retry: false`, do not retry; OpenAI's",
    "clients follow this header.",
    "",
    "| status | `code` | `type` | meaning | what to do | retry can help |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}
