import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { IdSource } from "../../lib/ids.ts";
import { AppError } from "../errors/app-error.ts";
import type { ErrorCode } from "../errors/error-table.ts";
import type { Logger } from "../observability/logger.ts";
import { presentError } from "./error-response.ts";

const problems: Record<string, { code: ErrorCode; message: string }> = {
  HPE_HEADER_OVERFLOW: { code: "headers_too_large", message: "Address and headers of the request are too large." },
  ERR_HTTP_REQUEST_TIMEOUT: { code: "request_timeout", message: "The request did not arrive whole in time." },
};

const malformed = { code: "malformed_request", message: "This is not a valid HTTP request." } as const;

/** Answers what never became a request, in the same shape as every other error, and ends the connection. */
export function createBrokenRequestHandler(parts: { ids: IdSource; logger: Logger }) {
  return (
    error: Error & { code?: string },
    socket: Socket & { _httpMessage?: { headersSent: boolean } | null },
  ): void => {
    const isAnswering = socket._httpMessage?.headersSent === true;
    if (error.code === "ECONNRESET" || !socket.writable || isAnswering) {
      socket.destroy();
      return;
    }
    const requestId = parts.ids.next("req");
    const { code, message } = problems[error.code ?? ""] ?? malformed;
    const { status, headers, body } = presentError(new AppError(code, message), requestId);
    const text = JSON.stringify(body);
    const head = Object.entries({
      ...headers,
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(text)),
      "x-request-id": requestId,
      connection: "close",
    });
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${text}`,
    );
    // Ending only closes our side; a client that goes on sending is not waited for.
    socket.destroySoon();
    parts.logger.info({ request_id: requestId, method: null, route: null, status, error_code: code }, "request");
  };
}
