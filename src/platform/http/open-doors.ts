import { once } from "node:events";
import { type AddressInfo, createServer, Server } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { OperatorError } from "../errors/operator-error.ts";
import type { HttpServer } from "./create-http-server.ts";
import { type ConnectionDrain, createConnectionDrain } from "./drain-connections.ts";

export type Doors = {
  port: number;
  connections: Pick<ConnectionDrain, "count" | "shed">;
  /** Takes no new connections, which others on the port do; those that are open go on. */
  leave(): void;
  /**
   * Serves on for the delay, and up to as long again where requests still come, but each answer ends its connection:
   * clients and proxies go elsewhere.
   */
  drain(delayMs: number): Promise<void>;
  /**
   * Takes no new connections and lets running requests finish; whoever is still connected after the time is cut off.
   * `beforeCut` can end them in a better way first.
   */
  close(timeoutMs: number, beforeCut?: () => Promise<void>): Promise<void>;
};

/** How long the better way of ending a request may take. */
const graceMs = 2000;

type DoorOptions = {
  host: string;
  port: number;
  /** Whether a request for this path only asks how the gateway does. */
  isProbe?(path: string): boolean;
};

/** `localhost` is two addresses, and clients try either first, so both are served. */
export async function openDoors(http: HttpServer, { host, port, isProbe = () => false }: DoorOptions): Promise<Doors> {
  const sideDoors: Server[] = [];
  const connections = createConnectionDrain(http.server, isProbe);
  const close: Doors["close"] = (timeoutMs, beforeCut = async () => {}) =>
    closeAll(http, sideDoors, { connections, timeoutMs, beforeCut });
  const drain = async (delayMs: number): Promise<void> => {
    connections.begin();
    if (delayMs > 0) await connections.untilQuiet(delayMs);
  };
  const leave = (): void => {
    // Not the server's own, which would also end connections that are idle at the moment.
    for (const door of [http.server, ...sideDoors]) Server.prototype.close.call(door);
  };
  try {
    await http.listen({ host: host === "localhost" ? "127.0.0.1" : host, port });
    const { port: actualPort } = http.server.address() as AddressInfo;
    if (host === "localhost") sideDoors.push(...(await openSideDoor(http, { host: "::1", port: actualPort })));
    return { port: actualPort, connections, leave, drain, close };
  } catch (error) {
    await close(0);
    throw explainListenError(error, { host, port });
  }
}

/**
 * Its connections are handed to the one real server, whose limits and errors they get. Empty where the machine has no
 * IPv6.
 */
async function openSideDoor(http: HttpServer, place: { host: string; port: number }): Promise<Server[]> {
  const door = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    http.server.emit("connection", socket);
  });
  try {
    await once(door.listen(place), "listening");
    return [door];
  } catch (error) {
    const hasNoIpv6 =
      error instanceof Error && "code" in error && /^(EADDRNOTAVAIL|EAFNOSUPPORT)$/.test(String(error.code));
    if (hasNoIpv6) return [];
    throw error;
  }
}

async function closeAll(
  http: HttpServer,
  sideDoors: readonly Server[],
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
  const sideDoorsClosed = sideDoors.map((door) => once(door.close(), "close"));
  const closed = http.close();
  const unused = connections.endUnused();
  await Promise.all([closed, ...sideDoorsClosed]);
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
    return new OperatorError(`Your user may not listen on port ${port}.`, "Choose a port above 1023 (SLUICE_PORT).");
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new OperatorError(`${host} is not an address of this machine.`, "Set host to localhost or 0.0.0.0.");
  }
  return error;
}
