import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** The network between the gateways and one server. */
export type Link = {
  port: number;
  /** Ends every connection; new ones pass. */
  cut(): void;
  /** Moves nothing any more and tells nobody, also of connections that are new. */
  stall(): void;
  /** Moves on what waited, as a network does that has found its way again. */
  release(): void;
  close(): Promise<void>;
};

export async function openLink(targetPort: number): Promise<Link> {
  const sockets = new Set<Socket>();
  let isStalled = false;

  const pass = (from: Socket): void => {
    const to = connect(targetPort, "127.0.0.1");
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(socket);
      // Either side may be cut at any moment; then both are.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.on("data", (piece) => other.write(piece));
      if (isStalled) socket.pause();
    }
  };

  const server = createServer(pass).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cut,
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    release() {
      isStalled = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
  };
}
