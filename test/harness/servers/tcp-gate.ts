import { once } from "node:events";
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** A proxy port in front of a server that simulates network faults. */
export type TcpGate = {
  open(): Promise<void>;
  /** Refuses connections and cuts the open ones. */
  close(): Promise<void>;
  /** Cuts the open ones; new ones pass. */
  cut(): void;
  /**
   * Drops all data silently, like a broken network: open connections stay open, and with `all`, new ones are accepted
   * and silent, too. Silenced connections stay silent.
   */
  silence(which: "open" | "all"): void;
  /** Ends the silence, for new connections. */
  speak(): void;
  /** Buffers everything until `goOn`, also on new connections; then it is delivered, as after congestion. */
  stall(): void;
  goOn(): void;
  /** The number of open connections. */
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
  /** The connections that are stalled; `null` without a stall. */
  let stalled: Set<Pair> | null = null;

  const pass = (from: Socket): void => {
    const pair = { from, to: connect(place) };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      from.destroy();
      pair.to.destroy();
    };
    // Either side may be cut at any time; then both are.
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

/** Both sides stay open, and neither receives anything from the other, not even its end. */
function silencePair({ from, to }: Pair): void {
  from.unpipe(to);
  to.unpipe(from);
  from.pause();
  to.pause();
}
