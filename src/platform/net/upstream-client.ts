import { buildConnector, Client, Pool } from "undici";
import { type ExchangeAnswer, ExchangeError, type ExchangeRequest, openExchange } from "./open-exchange.ts";

/** Asks one server that an operator named, for whatever is not chat: any method, any body, answers of any length. */
export type UpstreamClient = {
  /** Nothing is ever sent twice. No redirect is followed. */
  send(request: ClientRequest): Promise<ExchangeAnswer>;
  /** Ends all connections and what is under way on them. */
  close(): Promise<void>;
};

export type ClientRequest = ExchangeRequest & {
  /**
   * A kept connection may be closed by the server at the very moment that it is used again, and nobody knows what
   * became of the request. So what must not be asked twice gets a fresh one.
   */
  connection: "kept" | "fresh";
  /** On a fresh connection: the whole request is on its way. Until then, the server cannot have begun anything. */
  onSent?(): void;
};

type UpstreamClientParts = {
  /** Scheme, host and port. */
  origin: string;
  /** The most at a time, for each kind of connection. */
  connectionsMax: number;
  connectTimeoutMs: number;
};

const headerBytesMax = 64 * 1024;

export function createUpstreamClient({
  origin,
  connectionsMax,
  connectTimeoutMs,
}: UpstreamClientParts): UpstreamClient {
  // One for all, so that a new connection can take up the TLS session of an older one.
  const connector = buildConnector({ timeout: connectTimeoutMs, allowH2: false });
  const limits = { allowH2: false, pipelining: 1, maxHeaderSize: headerBytesMax };
  const kept = new Pool(origin, { ...limits, connections: connectionsMax, connect: connector });
  const fresh = new Set<Client>();
  const closing = new AbortController();

  async function sendFresh(request: ClientRequest): Promise<ExchangeAnswer> {
    if (fresh.size >= connectionsMax) throw new ExchangeError("overloaded", "All connections are in use.");
    const { body, onSent = () => {} } = request;
    const isText = body === null || typeof body === "string";
    const client = new Client(origin, {
      ...limits,
      connect(options, callback) {
        connector(options, (...[error, socket]) => {
          if (error !== null) return callback(error, null);
          if (isText) onSent();
          callback(null, socket);
        });
      },
    });
    fresh.add(client);
    const followed = isText ? request : { ...request, body: followEnd(body, onSent) };
    return await openExchange(client, followed, () => {
      fresh.delete(client);
      client.destroy().catch(() => {});
    });
  }

  return {
    async send(request) {
      const signal = AbortSignal.any([request.signal, closing.signal]);
      try {
        const sent = { ...request, signal };
        return request.connection === "fresh" ? await sendFresh(sent) : await openExchange(kept, sent);
      } catch (error) {
        request.signal.throwIfAborted();
        if (!closing.signal.aborted) throw error;
        throw new ExchangeError("unreachable", "The connections are closed.", error);
      }
    },
    async close() {
      closing.abort(new ExchangeError("unreachable", "The connections are closed."));
      await Promise.all([kept.destroy(), ...[...fresh].map((client) => client.destroy())]);
    },
  };
}

async function* followEnd(body: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* body;
  onEnd();
}
