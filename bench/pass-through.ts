import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Writable } from "node:stream";
import { Pool } from "undici";

const connectionsMax = 10_000;
const waitsMs = 60 * 60 * 1000;

type PassThroughParts = {
  upstreamPort: number;
  /** The destination of an upstream answer whose head is sent; `response` itself unless it is processed. */
  chooseOutlet(response: ServerResponse, headers: IncomingHttpHeaders): Writable;
};

/** Forwards calls to an upstream, and its answers back. */
export async function openPassThrough({
  upstreamPort,
  chooseOutlet,
}: PassThroughParts): Promise<{ port: number; close(): Promise<void> }> {
  const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, {
    connections: connectionsMax,
    headersTimeout: waitsMs,
    bodyTimeout: waitsMs,
  });
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    pool
      .stream(
        {
          method: "POST",
          path: request.url ?? "/",
          headers: withoutHopByHop(request.headers),
          body: request,
          signal: gone.signal,
        },
        ({ statusCode, headers }) => chooseOutlet(response.writeHead(statusCode, withoutHopByHop(headers)), headers),
      )
      .catch(() => {
        if (response.headersSent) response.destroy();
        else response.writeHead(502).end();
      });
  });
  await new Promise<void>((listening) => server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, listening));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await pool.destroy();
    },
  };
}

/** Removes hop-by-hop headers. */
function withoutHopByHop(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { connection, host, "keep-alive": keepAlive, "transfer-encoding": transferEncoding, ...rest } = headers;
  return rest;
}
