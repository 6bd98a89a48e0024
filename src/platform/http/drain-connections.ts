import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { findOpenReply } from "./request-context.ts";

/** Closes connections gracefully on shutdown, or to shed a surplus. */
export type ConnectionDrain = {
  count(): number;
  /** Closes this many connections after their next response; replaces the previous number. */
  shed(surplus: number): void;
  /** From now on every response has `Connection: close`. New requests are still served. */
  begin(): void;
  /** Waits for the delay, then until no requests arrive, at most as long again: load balancers may react late. */
  untilQuiet(delayMs: number): Promise<void>;
  /** Closes connections that have not sent a request; Node counts them as busy. */
  endUnused(): NodeJS.Timeout;
  /** Destroys all connections, also those in a TLS handshake, which Node's server does not track. */
  cut(): void;
};

/**
 * How long a connection may stay idle during the drain. Closing it at once would race with a request that the client is
 * sending.
 */
const idleMs = 250;
const pollIntervalMs = 50;

/** Call before the server listens. Probes of load balancers never stop, so they do not count as requests. */
export function createConnectionDrain(server: Server, isProbe: (path: string) => boolean): ConnectionDrain {
  let lastRequestMs = Number.NEGATIVE_INFINITY;
  const sockets = new Set<Socket>();
  let surplus = 0;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  // With TLS, requests belong to a second socket object.
  const encrypted = new Set<Socket>();
  server.on("secureConnection", (socket: TLSSocket) => {
    encrypted.add(socket);
    socket.once("close", () => encrypted.delete(socket));
  });
  function endSurplus(_request: unknown, response: ServerResponse): void {
    if (surplus === 0) server.off("request", endSurplus);
    else if (response.shouldKeepAlive) {
      surplus -= 1;
      endConnection(response);
    }
  }
  return {
    count: () => sockets.size,
    shed(wanted) {
      server.off("request", endSurplus);
      surplus = wanted;
      if (surplus > 0) server.prependListener("request", endSurplus);
    },
    begin() {
      server.keepAliveTimeout = idleMs;
      server.keepAliveTimeoutBuffer = 0;
      server.prependListener("request", ({ url = "" }, response) => {
        if (!isProbe(url)) lastRequestMs = performance.now();
        endConnection(response);
      });
      for (const socket of [...sockets, ...encrypted]) {
        const reply = findOpenReply(socket);
        if (reply !== null) endConnection(reply.raw);
      }
    },
    async untilQuiet(delayMs) {
      await wait(delayMs);
      const endMs = performance.now() + delayMs;
      while (performance.now() - lastRequestMs < idleMs && performance.now() < endMs) await wait(pollIntervalMs);
    },
    endUnused() {
      return setTimeout(() => {
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      }, idleMs);
    },
    cut() {
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Node adds `Connection: close` and closes the connection after the response. */
function endConnection(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
}
