// A bare pass-through, in a process of its own: what the least of a gateway costs on this Node. It reads nothing of what
// it hands on, knows nobody and remembers nothing.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { serveOnRequest } from "./serve-on-request.ts";

const { values } = parseArgs({ options: { "upstream-port": { type: "string", default: "0" } } });
const connectionsMax = 10_000;
const waitsMs = 60 * 60 * 1000;

const pool = new Pool(`http://127.0.0.1:${values["upstream-port"]}`, {
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
      ({ statusCode, headers }) => response.writeHead(statusCode, withoutHopByHop(headers)),
    )
    .catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  serveOnRequest({ port: (server.address() as AddressInfo).port, key: "", close: closeAll });
});

/** What concerns one connection only, and not the next. */
function withoutHopByHop(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { connection, host, "keep-alive": keepAlive, "transfer-encoding": transferEncoding, ...rest } = headers;
  return rest;
}

async function closeAll(): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await pool.destroy();
}
