import { once } from "node:events";
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** A port in front of a server, and all that a network can do between the two. */
export type TcpGate = {
  open(): Promise<void>;
  /** Refuses connections and cuts those that are open. */
  close(): Promise<void>;
  /** Cuts those that are open; new ones pass. */
  cut(): void;
  /**
   * Moves nothing any more and tells nobody, as a network does that lost its way: those that are open stay so, and of
   * `all`, new ones are accepted and are silent, too. Connections that were silenced never speak again.
   */
  silence(which: "open" | "all"): void;
  /** Ends the silence, for new connections. */
  speak(): void;
  /** Moves nothing until `goOn`, also of new connections; then everything goes on where it stood, as after a jam. */
  stall(): void;
  goOn(): void;
  /** How many connections are open at the moment. */
  count(): number;
};

type TcpGateOptions = { port: number } & ({ targetPort: number } | { targetSocket: string });

type Pair = { from: Socket; to: Duplex };

export async function openTcpGate({ port, ...target }: TcpGateOptions): Promise<TcpGate> {
  const pairs = new Set<Pair>();
  const place: NetConnectOpts =
    "targetPort" in target ? { port: target.targetPort, host: "127.0.0.1" } : { path: target.targetSocket };
  let server: Server | null = null;
  let isSilent = false;
  /** The connections that wait for the end of a jam; `null` where there is none. */
  let stalled: Set<Pair> | null = null;

  const pass = (from: Socket): void => {
    const pair = { from, to: connect(place) };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      from.destroy();
      pair.to.destroy();
    };
    // Either side may be cut at any moment; then both are.
    for (const socket of [from, pair.to]) socket.on("error", () => {}).on("close", end);
    from.pipe(pair.to).pipe(from);
    if (isSilent || stalled !== null) silencePair(pair);
    if (!isSilent) stalled?.add(pair);
  };

  const cut = (): void => {
    for (const { from } of pairs) from.destroy();
  };

  const gate: TcpGate = {
    async open() {
      server = createServer({ allowHalfOpen: true }, pass).listen(port, "127.0.0.1");
      await once(server, "listening");
    },
    async close() {
      if (server === null) return;
      const closed = once(server, "close");
      server.close();
      server = null;
      cut();
      await closed;
    },
    cut,
    silence(which) {
      isSilent = which === "all";
      stalled?.clear();
      for (const pair of pairs) silencePair(pair);
    },
    speak() {
      isSilent = false;
    },
    stall() {
      stalled = new Set(pairs);
      for (const pair of pairs) silencePair(pair);
    },
    goOn() {
      for (const { from, to } of stalled ?? []) from.pipe(to).pipe(from);
      stalled = null;
    },
    count: () => pairs.size,
  };
  await gate.open();
  return gate;
}

/** Both sides stay open, and neither hears the other, not even that it ended. */
function silencePair({ from, to }: Pair): void {
  from.unpipe(to);
  to.unpipe(from);
  from.pause();
  to.pause();
}
