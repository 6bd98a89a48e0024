import { type ErrorCode, errorTable, getErrorEntry } from "../../src/platform/errors/error-table.ts";

/** The page of the API guide that explains every error. */
export function presentErrorsPage(): string {
  const codes = Object.keys(errorTable) as ErrorCode[];
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
    "The HTTP status tells the outcome. Every error has the same body:",
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
    "`message` is for people and may change; `type` and `code` are for programs and stay. `param` names the field,",
    "query parameter or header at fault, or is `null`. `request_id` is also in the header `x-request-id`: report it",
    "when something looks wrong. Where `Retry-After` is sent, it is the time to wait; `x-should-retry: false` keeps",
    "clients that retry by themselves from doing so in vain.",
    "",
    "| status | `code` | `type` | meaning | what to do | retry can help |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}
