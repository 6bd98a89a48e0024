import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { findOpenReply } from "./request-context.ts";

/** The connections of a server, and how they end when it is about to stop or has too many of them. */
export type ConnectionDrain = {
  count(): number;
  /** So many connections end with their next answer, whichever they are; takes the place of what was said before. */
  shed(surplus: number): void;
  /** From now on every answer says that its connection ends with it; whatever comes is still served. */
  begin(): void;
  /**
   * Resolves after the delay, or as soon after it as no more requests come, which may take as long again: a load balancer
   * that hears late is waited for, clients who never go elsewhere are not.
   */
  untilQuiet(delayMs: number): Promise<void>;
  /** Ends connections that do not bring a request within a moment, which Node takes for busy ones. */
  endUnused(): NodeJS.Timeout;
  /** Ends all that are left, also those that are still in their handshake, of which Node's server does not know. */
  cut(): void;
};

/**
 * A connection whose answer began before the drain falls idle after it. For so long it may still bring a request: ended at
 * once, it would meet the one that a client is just sending.
 */
const idleMs = 250;
const lookEveryMs = 50;

/** To be called before the server listens. Probes of load balancers never end, so that they are no requests here. */
export function createConnectionDrain(server: Server, isProbe: (path: string) => boolean): ConnectionDrain {
  let lastRequestMs = Number.NEGATIVE_INFINITY;
  const sockets = new Set<Socket>();
  let surplus = 0;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  // Behind a handshake a connection is a second object, which has its requests.
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
      while (performance.now() - lastRequestMs < idleMs && performance.now() < endMs) await wait(lookEveryMs);
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

/** Node writes the header, whoever writes the head, and ends the connection after the answer. */
function endConnection(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
}
