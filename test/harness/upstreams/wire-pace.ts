import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { Passage } from "./gate.ts";

/**
 * Lets a vendor write no faster than its words travel: until all that it wrote is read, and whoever was left knows of it. On a
 * busy machine the kernel holds both back, for as long as it likes. Only connections that are opened afterwards are known.
 *
 * @param isVendorPort - whose server a connection of this process leads to
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
      // A reader that is gone is waited for until its writer has gone as well.
      while (![...writers].every(hasTravelled)) {
        await turn();
        signal.throwIfAborted();
      }
      // For what is decided about the words.
      for (let turns = 0; turns < 2; turns += 1) await turn();
    },
  };
}
