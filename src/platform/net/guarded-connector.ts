import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { createPublicLookup, type LookupAddresses, lookupSystemAddresses } from "./lookup-addresses.ts";
import { isPublicAddress } from "./public-address.ts";
import type { UpstreamError } from "./upstream-call.ts";
import { type Connect, toConnect } from "./upstream-pool.ts";

export type ConnectionGuard = {
  /** Also http, and every address that this machine can reach: for development, and for hosts that an operator named. */
  allowsPrivate: boolean;
  connectMs?: number;
  /** For tests, in place of the name servers. */
  lookup?: LookupAddresses;
  /** For tests, in place of what opens a connection to one of the addresses that were checked. */
  createConnector?: (options: buildConnector.BuildOptions) => buildConnector.connector;
};

export type GuardedFetchReason = UpstreamError["kind"] | "forbidden-address" | "too-large" | "wrong-type";

/** What was asked for cannot be had. The message is a sentence for the caller and never quotes the URL or its answer. */
export class GuardedFetchError extends Error {
  override readonly name = "GuardedFetchError";
  readonly reason: GuardedFetchReason;

  constructor(reason: GuardedFetchReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

const connectMsStandard = 5000;

/**
 * The SSRF guard of a connection: all addresses of the host have to be public, one of them is connected to without
 * another lookup, and the peer of the open connection has to be public too.
 */
export function createGuardedConnect(guard: ConnectionGuard): Connect {
  const { allowsPrivate, createConnector = buildConnector, connectMs: timeout = connectMsStandard } = guard;
  const lookup = guard.lookup ?? (allowsPrivate ? lookupSystemAddresses : createPublicLookup());
  const isAllowed = (address = ""): boolean => allowsPrivate || isPublicAddress(address);

  /** All of them must be allowed: a name with a private address among its own is no honest name. */
  async function findAddresses(host: string, signal: AbortSignal): Promise<readonly string[]> {
    const addresses = isIP(host) === 0 ? await lookup(host, signal) : [host];
    if (addresses.length === 0) throw new GuardedFetchError("unreachable", "The host of the URL was not found.");
    if (!addresses.every(isAllowed)) throw createForbidden();
    return addresses;
  }

  function connect(addresses: readonly string[], ...[options, callback]: Parameters<Connect>): ReturnType<Connect> {
    // The name is not looked up again: it could resolve to something else by now (DNS rebinding).
    const fixed = { lookup: createFixedLookup(addresses), autoSelectFamily: true };
    const connector = createConnector({ timeout, allowH2: false, maxCachedSessions: 0, ...fixed });
    return toConnect(connector)(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (isAllowed(socket.remoteAddress)) return callback(null, socket);
      socket.destroy();
      callback(createForbidden(), null);
    });
  }

  return (options, callback) => {
    const ending = new AbortController();
    let opening: ReturnType<Connect> = null;
    findAddresses(options.hostname.replace(/\.+$/, ""), ending.signal)
      .then((addresses) => {
        ending.signal.throwIfAborted();
        opening = connect(addresses, options, callback);
      })
      .catch((error: Error) => callback(error, null));
    return {
      destroy(error) {
        ending.abort(error);
        opening?.destroy(error);
      },
    };
  };
}

function createForbidden(): GuardedFetchError {
  return new GuardedFetchError("forbidden-address", "The URL leads to an address that is not public.");
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
