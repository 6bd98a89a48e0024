import { Socket } from "node:net";
import { buildConnector, Client } from "undici";
import type { Clock } from "../../lib/clock.ts";
import {
  createUpstreamCaller,
  type UpstreamCall,
  type UpstreamCaller,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
} from "./upstream-call.ts";

/** Connections to one server, each used for one call at a time. */
export type UpstreamPool = {
  /** Never throws, and tells the handler nothing before it has returned. Nothing is ever sent twice. */
  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall;
  /** Ends all connections. The calls that still run are cancelled: their handlers hear nothing more. */
  close(): Promise<void>;
};

type UpstreamPoolParts = {
  /** Scheme, host and port. */
  origin: string;
  clock: Clock;
  /** The end of every attempt to connect; a call's own time may be shorter. */
  connectTimeoutMs: number;
  /** The most calls at a time. There are never more connections than that, busy and idle together. */
  connectionsMax: number;
  /** How long an unused connection is kept, where the server does not say. */
  idleMs?: number;
};

const idleMsStandard = 4000;
const nothing = (): void => {};

type Connection = {
  client: Client;
  caller: UpstreamCaller;
  socket: Socket | null;
  /** The one that it serves now. */
  call: UpstreamCall | null;
};

export function createUpstreamPool(parts: UpstreamPoolParts): UpstreamPool {
  const { clock, connectionsMax, idleMs = idleMsStandard } = parts;
  const origin = new URL(parts.origin);
  // Changes only when a connection comes or goes: a collection that changed with every call would, for as long as the
  // garbage collector lets its older states be, keep the calls that were in them.
  const connections = new Set<Connection>();
  // The library's own pool walks through all busy clients to find a free one. The last one used is the likeliest to be
  // connected still, and the others get the rest that closes them.
  const idle: Connection[] = [];
  // One for all, so that a new connection can take up the TLS session of an older one.
  const connector = buildConnector({ timeout: parts.connectTimeoutMs, allowH2: false });
  let isClosed = false;

  function openConnection(): Connection {
    const client = new Client(origin, {
      connect(options, callback) {
        const socket: unknown = connector(options, callback);
        if (socket instanceof Socket) connection.socket = socket;
      },
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: idleMs,
    });
    const caller = createUpstreamCaller({ client, clock, onOver: (isReusable) => release(connection, isReusable) });
    const connection: Connection = { client, caller, socket: null, call: null };
    client.on("disconnect", () => {
      const index = idle.indexOf(connection);
      if (index < 0) return;
      idle.splice(index, 1);
      connections.delete(connection);
    });
    connections.add(connection);
    return connection;
  }

  async function dropConnection(connection: Connection): Promise<void> {
    connections.delete(connection);
    const dropped = connection.client.destroy();
    // The client itself would let an attempt to connect go on to its end.
    connection.socket?.destroy(new Error("The call is over."));
    await dropped;
  }

  function release(connection: Connection, isReusable: boolean): void {
    connection.call = null;
    if (isReusable && !isClosed) idle.push(connection);
    else void dropConnection(connection);
  }

  function refuse(handler: UpstreamHandler, error: UpstreamError): UpstreamCall {
    let isWanted = true;
    queueMicrotask(() => {
      if (isWanted) handler.onError(error);
    });
    const leave = (): void => {
      isWanted = false;
    };
    return { pause: nothing, resume: nothing, drain: leave, cancel: leave };
  }

  return {
    dispatch(request, handler) {
      if (isClosed) return refuse(handler, new UpstreamError("unreachable", "The connections are closed."));
      if (connections.size - idle.length >= connectionsMax) {
        return refuse(handler, new UpstreamError("overloaded", "All connections are in use."));
      }
      const connection = idle.pop() ?? openConnection();
      const call = connection.caller.start(request, handler);
      connection.call = call;
      return call;
    },
    async close() {
      isClosed = true;
      idle.length = 0;
      const open = [...connections];
      for (const { call } of open) call?.cancel();
      await Promise.all(open.map(dropConnection));
    },
  };
}
