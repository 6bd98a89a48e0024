import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { Passage } from "./gate.ts";

/**
 * Paces a vendor's writes: waits until everything written is read, and every closed connection is noticed. On a busy
 * machine the kernel may delay both. Only connections that are opened afterwards are tracked.
 *
 * @param isVendorPort - whether a connection of this process to this port leads to a vendor
 */
export function createWirePace(isVendorPort: (port: number) => boolean): Passage {
  const readers = new Map<number, Socket>();
  const writers = new Set<Socket>();
  subscribe("net.client.socket", (message) => {
    const { socket } = message as { socket: Socket };
    socket.once("connect", () => readers.set(socket.localPort ?? 0, socket));
  });
  subscribe("net.server.socket", (message) => {
    const { socket } = message as { socket: Socket };
    writers.add(socket);
    socket.once("close", () => writers.delete(socket));
  });
  const hasTravelled = (writer: Socket): boolean => {
    const reader = isVendorPort(writer.localPort ?? 0) ? readers.get(writer.remotePort ?? 0) : undefined;
    return reader === undefined || (!reader.destroyed && reader.bytesRead === writer.bytesWritten);
  };
  return {
    async pass(signal) {
      // A disconnected reader is waited for until its writer has noticed.
      while (![...writers].every(hasTravelled)) {
        await turn();
        signal.throwIfAborted();
      }
      // Yields to code that reacts to the data.
      for (let turns = 0; turns < 2; turns += 1) await turn();
    },
  };
}
