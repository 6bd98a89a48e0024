import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { OperatorError } from "../errors/operator-error.ts";
import type { CollectedMetric } from "./metrics.ts";
import { chooseForm, metricForms, presentMetrics } from "./present-metrics.ts";

export type MetricsServer = { port: number; close(): Promise<void> };

type MetricsServerOptions = {
  host: string;
  port: number;
  /** Must return before the scraper times out. */
  collect(): Promise<CollectedMetric[]>;
};

const connectionsMax = 64;
const requestMsMax = 5000;

/**
 * Serves `/metrics` on its own port without authentication: the network decides who can reach it. Not a route of the API,
 * so that scrapes do not queue behind callers.
 */
export async function serveMetrics({ host, port, collect }: MetricsServerOptions): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: requestMsMax, headersTimeout: requestMsMax }, (request, response) => {
    answer(request, response, collect).catch(() => response.destroy());
  });
  server.maxConnections = connectionsMax;
  try {
    await once(server.listen({ host, port, exclusive: true }), "listening");
  } catch (error) {
    throw explainListenError(error, { host, port });
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server.close(), "close");
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  { method, url, headers }: IncomingMessage,
  response: ServerResponse,
  collect: MetricsServerOptions["collect"],
): Promise<void> {
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead || url?.split("?", 1)[0] !== "/metrics") {
    const status = isRead ? 404 : 405;
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end("Metrics are at GET /metrics.\n");
    return;
  }
  const form = chooseForm(headers.accept);
  const body = presentMetrics(await collect(), form);
  const length = Buffer.byteLength(body);
  // Node omits the body for HEAD.
  response.writeHead(200, { "content-type": metricForms[form], "content-length": length }).end(body);
}

function explainListenError(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new OperatorError(
      `The metrics port ${host}:${port} is in use by another program.`,
      "Set a different metrics_port for each gateway on this machine (SLUICE_METRICS_PORT).",
    );
  }
  if (code === "EACCES") {
    return new OperatorError(`Your user is not permitted to listen on port ${port}.`, "Set metrics_port above 1023.");
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new OperatorError(
      `${host} is not an address of this machine.`,
      "Set metrics_host to an address of this machine.",
    );
  }
  return error;
}
