import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { createPublicLookup, type LookupAddresses, lookupSystemAddresses } from "./lookup-addresses.ts";
import { isPublicAddress } from "./public-address.ts";

/** Decides who may be connected to, for URLs that strangers give us. */
export type ConnectionGuard = {
  /** The addresses of a host, all of them allowed. */
  findAddresses(host: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Connects to one of the addresses, and hands over a connection only when its peer is allowed too. */
  createConnector(addresses: readonly string[]): buildConnector.connector;
};

export type ConnectionGuardParts = {
  /** For development: also http, and every address that this machine can reach. */
  allowsPrivate: boolean;
  connectMs?: number;
  /** For tests, in place of the name servers. */
  lookup?: LookupAddresses;
  /** For tests, in place of what opens a connection to one of the addresses that were checked. */
  createConnector?: (options: buildConnector.BuildOptions) => buildConnector.connector;
};

export type GuardedFetchReason =
  | "forbidden-address"
  | "unreachable"
  | "timeout"
  | "too-large"
  | "wrong-type"
  | "bad-answer";

/** What was asked for cannot be had. The message is a sentence for the caller and never quotes the URL or its answer. */
export class GuardedFetchError extends Error {
  override readonly name = "GuardedFetchError";
  readonly reason: GuardedFetchReason;

  constructor(reason: GuardedFetchReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

const connectMsUsual = 5000;

export function createConnectionGuard(parts: ConnectionGuardParts): ConnectionGuard {
  const { allowsPrivate, createConnector = buildConnector } = parts;
  const lookup = parts.lookup ?? (allowsPrivate ? lookupSystemAddresses : createPublicLookup());

  function isAllowed(address: string | undefined): boolean {
    return allowsPrivate || (address !== undefined && isPublicAddress(address));
  }

  return {
    /** All of them must be allowed: a name with an inner address among its own is no honest name. */
    async findAddresses(host, signal) {
      const addresses = isIP(host) !== 0 ? [host] : await untilAborted(lookup(host, signal), signal);
      if (addresses.length === 0) throw new GuardedFetchError("unreachable", "The host of the URL was not found.");
      if (addresses.every(isAllowed)) return addresses;
      throw new GuardedFetchError("forbidden-address", "The URL leads to an address that is not public.");
    },
    createConnector(addresses) {
      const connect = createConnector({
        timeout: parts.connectMs ?? connectMsUsual,
        allowH2: false,
        maxCachedSessions: 0,
        // The name is not looked up again: it could resolve to something else by now.
        lookup: createFixedLookup(addresses),
        autoSelectFamily: true,
      });
      return (options, callback) =>
        connect(options, (...[error, socket]) => {
          if (error !== null) return callback(error, null);
          if (isAllowed(socket.remoteAddress)) return callback(null, socket);
          socket.destroy();
          callback(new GuardedFetchError("forbidden-address", "The URL leads to an address that is not public."), null);
        });
    },
  };
}

/** Answers every question of a socket with the addresses that were checked. */
function createFixedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = all;
    if (options.all === true || first === undefined) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

/** A lookup may not be able to end at once; its caller does. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
