import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A port in front of a server: while the gate is closed, the server is away for whoever comes by it. */
export type TcpGate = {
  open(): Promise<void>;
  /** Refuses connections and cuts those that are open. */
  close(): Promise<void>;
};

export async function openTcpGate({ port, targetPort }: { port: number; targetPort: number }): Promise<TcpGate> {
  const sockets = new Set<Socket>();
  let server: Server | null = null;

  const pass = (from: Socket): void => {
    const to = connect(targetPort, "127.0.0.1");
    for (const socket of [from, to]) {
      sockets.add(socket);
      // Either side may be cut at any moment; then both are.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        from.destroy();
        to.destroy();
      });
    }
    from.pipe(to).pipe(from);
  };

  const gate: TcpGate = {
    async open() {
      server = createServer(pass).listen(port, "127.0.0.1");
      await once(server, "listening");
    },
    async close() {
      if (server === null) return;
      const closed = once(server, "close");
      server.close();
      server = null;
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  await gate.open();
  return gate;
}
