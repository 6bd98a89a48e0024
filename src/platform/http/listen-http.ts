import { once } from "node:events";
import { type AddressInfo, createServer, Server } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { OperatorError } from "../errors/operator-error.ts";
import type { HttpServer } from "./create-http-server.ts";
import { type ConnectionDrain, createConnectionDrain } from "./drain-connections.ts";

export type HttpListeners = {
  port: number;
  connections: Pick<ConnectionDrain, "count" | "shed">;
  /** Accepts no new connections, which other processes on the port do; open connections continue. */
  leave(): void;
  /** Serves for the delay, at most twice as long while requests arrive; each response closes its connection. */
  drain(delayMs: number): Promise<void>;
  /**
   * Accepts no new connections and lets running requests finish. After the timeout, `beforeCut` can end them gracefully
   * before the connections are destroyed.
   */
  close(timeoutMs: number, beforeCut?: () => Promise<void>): Promise<void>;
};

/** How long `beforeCut` may take. */
const graceMs = 2000;

type ListenOptions = {
  host: string;
  port: number;
  /** Whether the path is a health check. */
  isProbe?(path: string): boolean;
};

/** `localhost` resolves to 127.0.0.1 and ::1, and clients try either first, so both listen. */
export async function listenHttp(
  http: HttpServer,
  { host, port, isProbe = () => false }: ListenOptions,
): Promise<HttpListeners> {
  const secondaries: Server[] = [];
  const connections = createConnectionDrain(http.server, isProbe);
  const close: HttpListeners["close"] = (timeoutMs, beforeCut = async () => {}) =>
    closeAll(http, secondaries, { connections, timeoutMs, beforeCut });
  const drain = async (delayMs: number): Promise<void> => {
    connections.begin();
    if (delayMs > 0) await connections.untilQuiet(delayMs);
  };
  const leave = (): void => {
    // `http.Server.close` would also close idle connections.
    for (const listener of [http.server, ...secondaries]) Server.prototype.close.call(listener);
  };
  try {
    await http.listen({ host: host === "localhost" ? "127.0.0.1" : host, port });
    const { port: actualPort } = http.server.address() as AddressInfo;
    if (host === "localhost") secondaries.push(...(await listenSecondary(http, { host: "::1", port: actualPort })));
    return { port: actualPort, connections, leave, drain, close };
  } catch (error) {
    await close(0);
    throw explainListenError(error, { host, port });
  }
}

/** Hands its connections to the main server. Empty if the machine has no IPv6. */
async function listenSecondary(http: HttpServer, place: { host: string; port: number }): Promise<Server[]> {
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    http.server.emit("connection", socket);
  });
  try {
    await once(listener.listen(place), "listening");
    return [listener];
  } catch (error) {
    const hasNoIpv6 =
      error instanceof Error && "code" in error && /^(EADDRNOTAVAIL|EAFNOSUPPORT)$/.test(String(error.code));
    if (hasNoIpv6) return [];
    throw error;
  }
}

async function closeAll(
  http: HttpServer,
  secondaries: readonly Server[],
  {
    connections,
    timeoutMs,
    beforeCut,
  }: { connections: ConnectionDrain; timeoutMs: number; beforeCut(): Promise<void> },
): Promise<void> {
  const cut = setTimeout(async () => {
    await Promise.race([beforeCut(), wait(graceMs, undefined, { ref: false })]);
    connections.cut();
  }, timeoutMs);
  const secondariesClosed = secondaries.map((listener) => once(listener.close(), "close"));
  const closed = http.close();
  const unused = connections.endUnused();
  await Promise.all([closed, ...secondariesClosed]);
  clearTimeout(unused);
  clearTimeout(cut);
}

function explainListenError(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new OperatorError(
      `Port ${port} is in use by another program.`,
      `Stop it, or choose another port: SLUICE_PORT=${port + 1} npm start`,
    );
  }
  if (code === "EACCES") {
    return new OperatorError(
      `Your user is not permitted to listen on port ${port}.`,
      "Choose a port above 1023 (SLUICE_PORT).",
    );
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new OperatorError(`${host} is not an address of this machine.`, "Set host to localhost or 0.0.0.0.");
  }
  return error;
}
