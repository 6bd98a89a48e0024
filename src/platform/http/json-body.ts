import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../errors/app-error.ts";

/** Accepts JSON in UTF-8, as it is: every other content type, character set or encoding is refused with a reason. */
export function acceptJsonBodies(http: FastifyInstance): void {
  http.removeAllContentTypeParsers();
  http.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    let value: unknown;
    try {
      value = readBody(request, body);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, value);
  });
}

function readBody(request: FastifyRequest, body: Buffer): unknown {
  requirePlainUtf8(request.headers);
  request.bodyBytes = body.length;
  // Only who may send a request again is asked for the very same bytes.
  if (request.headers["idempotency-key"] !== undefined) request.rawBody = body;
  return parseJson(body);
}

function requirePlainUtf8(headers: Record<string, string | string[] | undefined>): void {
  const charset = readCharset(String(headers["content-type"]));
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new AppError("unsupported_media_type", `The character set ${charset} is not accepted. Send UTF-8.`, {
      param: "Content-Type",
    });
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new AppError("unsupported_media_type", "A compressed body is not accepted. Send it without compression.", {
      param: "Content-Encoding",
    });
  }
}

function readCharset(contentType: string): string | undefined {
  // The usual header has no parameters, and needs no pattern to see that.
  if (!contentType.includes(";")) return undefined;
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) throw new AppError("invalid_json", "The body is empty. Send one JSON value.");
  if (!isUtf8(body)) throw new AppError("invalid_json", "The body is not valid UTF-8.");
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (error) {
    // V8's message quotes the body, which is the caller's own and goes nowhere else: the log gets only the code.
    throw new AppError("invalid_json", `The body is not valid JSON: ${error instanceof Error ? error.message : ""}.`);
  }
}
