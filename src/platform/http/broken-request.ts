import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { IdSource } from "../../lib/ids.ts";
import { AppError } from "../errors/app-error.ts";
import type { ErrorCode } from "../errors/error-table.ts";
import type { Logger } from "../observability/logger.ts";
import { type ErrorAnswer, presentError } from "./error-response.ts";
import { presentLimitHeaders } from "./limit-headers.ts";
import { findOpenReply, hasUnreadBody } from "./request-context.ts";

const problems: Record<string, { code: ErrorCode; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    code: "headers_too_large",
    message: "The URL and headers are too large. Send fewer or shorter headers.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: "request_timeout",
    message: "The whole request did not arrive in time. Send it again.",
  },
};

const malformed = {
  code: "malformed_request",
  message: "This is not a valid HTTP request. Check that http or https matches the base URL.",
} as const;

/** Handles requests that Node could not parse: sends our error body and closes the connection. */
export function createBrokenRequestHandler({ ids, logger }: { ids: IdSource; logger: Logger }) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    const open = findOpenReply(socket);
    // On a kept-alive connection, the previous response is already finished.
    const current = open?.raw.writableFinished === true ? null : open;
    const isAnswered = current?.raw.headersSent === true || hasUnreadBody(socket);
    if (error.code === "ECONNRESET" || isHandshakeError(error) || !socket.writable || isAnswered) {
      socket.destroy();
      return;
    }
    const problem = problems[error.code ?? ""] ?? malformed;
    const limits = current?.request.limits ?? null;
    const headers = limits === null ? {} : presentLimitHeaders(limits);
    const failure = new AppError(problem.code, problem.message, { headers });
    const requestId = current?.request.id ?? ids.next("req");
    const answer = presentError(failure, requestId);
    writeAnswer(socket, requestId, answer);
    if (current === null) {
      const { code } = answer.body.error;
      logger.info(
        { request_id: requestId, method: null, route: null, status: answer.status, error_code: code },
        "request",
      );
    } else {
      // The log line is written when the connection closes, right after this.
      current.raw.statusCode = answer.status;
      current.request.failure = failure;
    }
  };
}

/** Without a TLS handshake the client cannot read a response. */
function isHandshakeError({ code = "" }: Error & { code?: string }): boolean {
  return /^ERR_(SSL|TLS)_/.test(code);
}

function writeAnswer(socket: Socket, requestId: string, answer: ErrorAnswer): void {
  const text = JSON.stringify(answer.body);
  const headers = {
    ...answer.headers,
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(text)),
    "x-request-id": requestId,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}\r\n${lines.join("")}\r\n${text}`);
  // Don't wait for a client that keeps sending.
  socket.destroySoon();
}
