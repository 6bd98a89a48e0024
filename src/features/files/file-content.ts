import { parseByteRange } from "../../platform/http/parse-byte-range.ts";
import type { ByteRange } from "../../platform/storage/byte-store.ts";
import type { StoredFile } from "./file.ts";
import { presentDisposition } from "./filename.ts";

/** The request's conditional and range headers. */
export type ContentRequest = {
  range: string | undefined;
  ifRange: string | undefined;
  ifNoneMatch: string | undefined;
};

export type ContentPlan = {
  status: 200 | 206 | 304 | 416;
  headers: Record<string, string>;
  /** `null` if the response has no body. */
  range: ByteRange | null;
};

const cacheSecondsMax = 3600;

/** Decides the range and headers of a response. A file's bytes never change. */
export function planContent(file: StoredFile, request: ContentRequest, now: Date): ContentPlan {
  const etag = `"${file.sha256}"`;
  const headers = {
    etag,
    "accept-ranges": "bytes",
    ...presentSafeHeaders(file, now),
  };
  if (request.ifNoneMatch !== undefined && hasTag(request.ifNoneMatch, etag))
    return { status: 304, headers, range: null };
  const range =
    request.ifRange === undefined || request.ifRange === etag ? parseByteRange(request.range, file.bytes) : null;
  if (range === "unsatisfiable") {
    return { status: 416, headers: { "content-range": `bytes */${file.bytes}` }, range: null };
  }
  const { start, end } = range ?? { start: 0, end: file.bytes - 1 };
  return {
    status: range === null ? 200 : 206,
    headers: {
      ...headers,
      "content-type": presentContentType(file),
      "content-length": String(end - start + 1),
      "content-disposition": presentDisposition(file.filename),
      ...(range === null ? {} : { "content-range": `bytes ${start}-${end}/${file.bytes}` }),
    },
    range: { start, end },
  };
}

/** Caching, and a CSP that keeps browsers from running the file. */
export function presentSafeHeaders(file: StoredFile, now: Date): Record<string, string> {
  return {
    "cache-control": `private, max-age=${measureCacheSeconds(file, now)}, immutable`,
    "content-security-policy": "sandbox; default-src 'none'",
  };
}

/** Media types were detected from the content; our own text documents are UTF-8. */
function presentContentType({ kind, contentType }: StoredFile): string {
  return kind === "document" ? `${contentType}; charset=utf-8` : contentType;
}

function measureCacheSeconds({ expiresAt }: StoredFile, now: Date): number {
  const leftSeconds = Math.floor((expiresAt.getTime() - now.getTime()) / 1000);
  return Math.max(0, Math.min(cacheSecondsMax, leftSeconds));
}

function hasTag(header: string, etag: string): boolean {
  return header.split(",").some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()));
}
