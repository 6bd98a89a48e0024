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

/** Connections to one origin, each used for one call at a time. */
export type UpstreamPool = {
  /** Never throws, calls no handler before it returns, and never retries. */
  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall;
  /** Closes all connections and cancels running calls without calling their handlers. */
  close(): Promise<void>;
  /** Busy and idle together. */
  countConnections(): number;
  hasIdle(): boolean;
};

/** Opens a connection and returns a handle to abort the attempt. */
export type Connect = (...request: Parameters<buildConnector.connector>) => { destroy(error: Error): void } | null;

type UpstreamPoolOptions = {
  /** Scheme, host and port. */
  origin: string;
  clock: Clock;
  /** Has its own timeout; a call's may be shorter. */
  connect: Connect;
  /** Maximum connections, busy and idle. */
  connectionsMax: number;
  /** Keep-alive without a hint from the server. */
  idleMs?: number;
  /** Maximum keep-alive with a hint. */
  idleMsMax?: number;
  headerBytesMax?: number;
};

const defaultIdleMs = 4000;
const noop = (): void => {};

type Connection = {
  client: Client;
  caller: UpstreamCaller;
  opening: ReturnType<Connect>;
  isKept: boolean;
  call: UpstreamCall | null;
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: open, idle and closed connections share one state.
export function createUpstreamPool(options: UpstreamPoolOptions): UpstreamPool {
  const { clock, connect, connectionsMax, idleMs = defaultIdleMs, idleMsMax, headerBytesMax } = options;
  const origin = new URL(options.origin);
  // Changes only when a connection opens or closes: a set that changed with every call would retain old calls until the
  // next major garbage collection.
  const connections = new Set<Connection>();
  // undici's pool scans all busy clients for a free one. LIFO: the last one used is most likely still connected, and the
  // others time out.
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
    // undici does not abort a pending connection attempt.
    connection.opening?.destroy(new Error("The call has ended."));
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
    return { pause: noop, resume: noop, drain: leave, cancel: leave };
  }

  return {
    dispatch(request, handler) {
      if (isClosed) return refuse(handler, new UpstreamError("unreachable", "The gateway is shutting down."));
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

/** Connects without the SSRF guard. One per pool, to share TLS sessions. */
export function createConnect({ timeoutMs }: { timeoutMs: number }): Connect {
  return toConnect(buildConnector({ timeout: timeoutMs, allowH2: false }));
}

/** undici's connectors return their socket, contrary to their type. */
export function toConnect(connector: buildConnector.connector): Connect {
  return (options, callback) => {
    const socket: unknown = connector(options, callback);
    return socket instanceof Socket ? socket : null;
  };
}
