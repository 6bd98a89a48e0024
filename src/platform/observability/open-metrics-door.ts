import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { OperatorError } from "../errors/operator-error.ts";
import type { CollectedMetric } from "./metrics.ts";
import { chooseForm, metricForms, presentMetrics } from "./present-metrics.ts";

export type MetricsDoor = { port: number; close(): Promise<void> };

type DoorOptions = {
  host: string;
  port: number;
  /** Never takes longer than whoever scrapes waits. */
  collect(): Promise<CollectedMetric[]>;
};

const connectionsMax = 64;
const requestMsMax = 5000;

/**
 * Serves `/metrics` on a port of its own, without a key: who may reach it is decided by the network, so that it never is the
 * public address by itself. Not a route of the API: what watches the gateway must not stand in line with its callers.
 */
export async function openMetricsDoor({ host, port, collect }: DoorOptions): Promise<MetricsDoor> {
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
  collect: DoorOptions["collect"],
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
  // Node leaves the body of an answer to HEAD out by itself.
  response.writeHead(200, { "content-type": metricForms[form], "content-length": length }).end(body);
}

function explainListenError(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new OperatorError(
      `Port ${port} of ${host}, where metrics should be served, is in use by another program.`,
      "Choose another metrics_port for each gateway of this machine (SLUICE_METRICS_PORT).",
    );
  }
  if (code === "EACCES") {
    return new OperatorError(`Your user may not listen on port ${port}.`, "Choose a metrics_port above 1023.");
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new OperatorError(`${host} is not an address of this machine.`, "Set metrics_host to one that is.");
  }
  return error;
}
