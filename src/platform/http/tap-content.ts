import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { ByteAllowance } from "../../lib/byte-allowance.ts";
import { BodyExcerpt } from "./body-excerpt.ts";

/** The logged part of a body. Binary bodies have no excerpt. */
export type TappedBody = {
  contentType: string | null;
  /** `null` if unknown. */
  bytes: number | null;
  excerpt: BodyExcerpt | null;
};

/** The bodies of a request and its response, collected while they stream through. */
export type ContentTap = { request: TappedBody; answer: TappedBody };

export const tapLimits = {
  /** Of each body. */
  bytesMax: 256 * 1024,
  /** Collected beyond that, so that a secret at the cut is recognized whole. */
  bytesBeyond: 4 * 1024,
  wordBytesMax: 1024,
  wordBytesShown: 64,
  /** Of all bodies in a process's memory. */
  heldBytesMax: 32 * 1024 * 1024,
} as const;

const textPattern = /^(?:text\/|application\/(?:[a-z0-9.-]+\+)?(?:json|x-ndjson)\b)/i;

/** Starts to collect the bodies of a request and its response. */
export function tapContent(reply: FastifyReply, allowance: ByteAllowance): ContentTap {
  const { "content-type": type, "content-length": length } = reply.request.headers;
  const excerpt = isText(type) ? createExcerpt(allowance) : null;
  const tap: ContentTap = {
    request: { contentType: type ?? null, bytes: excerpt === null ? readLength(length) : null, excerpt },
    answer: { contentType: null, bytes: 0, excerpt: null },
  };
  tapResponse(reply.raw, {
    onHead(contentType) {
      tap.answer.contentType = contentType;
      if (isText(contentType)) tap.answer.excerpt = createExcerpt(allowance);
    },
    onBytes(chunk) {
      tap.answer.bytes = (tap.answer.bytes ?? 0) + chunk.length;
      tap.answer.excerpt?.add(chunk);
    },
  });
  return tap;
}

export function releaseTap({ request, answer }: ContentTap): void {
  request.excerpt?.release();
  answer.excerpt?.release();
}

function createExcerpt(allowance: ByteAllowance): BodyExcerpt {
  const { bytesMax, bytesBeyond, wordBytesMax, wordBytesShown } = tapLimits;
  return new BodyExcerpt({ bytesMax: bytesMax + bytesBeyond, wordBytesMax, wordBytesShown }, allowance);
}

function isText(contentType: string | undefined): boolean {
  return contentType !== undefined && textPattern.test(contentType);
}

function readLength(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

type ResponseListener = { onHead(contentType: string): void; onBytes(chunk: Uint8Array): void };

/**
 * Responses are sent by Fastify or past it, whole or in chunks. Only the `ServerResponse` sees them all, so its three
 * writing methods are wrapped.
 */
function tapResponse(response: ServerResponse, { onHead, onBytes }: ResponseListener): void {
  const { writeHead, write, end } = response;
  const collect = (chunk: unknown): void => {
    if (typeof chunk === "string") onBytes(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) onBytes(chunk);
  };
  const tapped = {
    writeHead(...given: unknown[]) {
      const headers = given.at(-1);
      onHead(findContentType(typeof headers === "object" ? (headers as OutgoingHttpHeaders) : {}, response));
      return writeHead.apply(response, given as Parameters<typeof writeHead>);
    },
    write(...given: unknown[]) {
      collect(given[0]);
      return write.apply(response, given as Parameters<typeof write>);
    },
    end(...given: unknown[]) {
      collect(given[0]);
      return end.apply(response, given as Parameters<typeof end>);
    },
  };
  Object.assign(response, tapped);
}

function findContentType(headers: OutgoingHttpHeaders, response: ServerResponse): string {
  return String(headers["content-type"] ?? response.getHeader("content-type") ?? "");
}
