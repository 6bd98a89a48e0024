import { Socket } from "node:net";
import { buildConnector, Client } from "undici";
import type { Clock } from "../../lib/clock.ts";
import {
  type UpstreamCall,
  UpstreamCaller,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
} from "./upstream-call.ts";

/** Connections to one server, each used for one call at a time: the only place where connections are kept. */
export type UpstreamPool = {
  /** Never throws, and tells the handler nothing before it has returned. Nothing is ever sent twice. */
  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall;
  /** Ends all connections. The calls that still run are cancelled: their handlers hear nothing more. */
  close(): Promise<void>;
  /** Busy and idle together. */
  countConnections(): number;
  hasIdle(): boolean;
};

/** Opens a connection, and answers with what gives it up before it is open. */
export type Connect = (...request: Parameters<buildConnector.connector>) => { destroy(error: Error): void } | null;

type UpstreamPoolOptions = {
  /** Scheme, host and port. */
  origin: string;
  clock: Clock;
  /** Opens a connection, within a time of its own; a call's own time may be shorter. */
  connect: Connect;
  /** The most calls at a time. There are never more connections than that, busy and idle together. */
  connectionsMax: number;
  /** How long an unused connection is kept, where the server does not say. */
  idleMs?: number;
  /** How long at the most, where the server says. */
  idleMsMax?: number;
  headerBytesMax?: number;
};

const idleMsStandard = 4000;
const nothing = (): void => {};

type Connection = {
  client: Client;
  caller: UpstreamCaller;
  opening: ReturnType<Connect>;
  /** Whether it is used again. */
  isKept: boolean;
  /** The one that it serves now. */
  call: UpstreamCall | null;
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what is open, idle and closed is one state.
export function createUpstreamPool(options: UpstreamPoolOptions): UpstreamPool {
  const { clock, connect, connectionsMax, idleMs = idleMsStandard, idleMsMax, headerBytesMax } = options;
  const origin = new URL(options.origin);
  // Changes only when a connection comes or goes: a collection that changed with every call would, for as long as the
  // garbage collector lets its older states be, keep the calls that were in them.
  const connections = new Set<Connection>();
  // The library's own pool walks through all busy clients to find a free one. The last one used is the likeliest to be
  // connected still, and the others get the rest that closes them.
  const idle: Connection[] = [];
  let isClosed = false;

  function openConnection(onConnected?: () => void): Connection {
    const client = new Client(origin, {
      connect(options, callback) {
        connection.opening = connect(options, (...[error, socket]) => {
          if (error !== null) return callback(error, null);
          onConnected?.();
          callback(null, socket);
        });
      },
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: idleMs,
      ...(idleMsMax === undefined ? {} : { keepAliveMaxTimeout: idleMsMax }),
      ...(headerBytesMax === undefined ? {} : { maxHeaderSize: headerBytesMax }),
    });
    const caller = new UpstreamCaller({ client, clock, onOver: (isReusable) => release(connection, isReusable) });
    const connection: Connection = { client, caller, opening: null, isKept: true, call: null };
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
    connection.opening?.destroy(new Error("The call is over."));
    await dropped;
  }

  function release(connection: Connection, isReusable: boolean): void {
    connection.call = null;
    if (isReusable && connection.isKept && !isClosed) idle.push(connection);
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
      const isFresh = request.connection === "fresh";
      const connection = isFresh ? openConnection(request.onConnected) : (idle.pop() ?? openConnection());
      connection.isKept = !isFresh;
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
    countConnections: () => connections.size,
    hasIdle: () => idle.length > 0,
  };
}

/** Connects to whatever address the host has. One for all of a pool, so that they can share TLS sessions. */
export function createConnect({ timeoutMs }: { timeoutMs: number }): Connect {
  return toConnect(buildConnector({ timeout: timeoutMs, allowH2: false }));
}

/** The library's connectors answer with their socket, though their type does not say so. */
export function toConnect(connector: buildConnector.connector): Connect {
  return (options, callback) => {
    const socket: unknown = connector(options, callback);
    return socket instanceof Socket ? socket : null;
  };
}
