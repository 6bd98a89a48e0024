import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { createPublicLookup, type LookupAddresses, lookupSystemAddresses } from "./lookup-addresses.ts";
import { isPublicAddress } from "./public-address.ts";
import type { UpstreamError } from "./upstream-call.ts";
import { type Connect, toConnect } from "./upstream-pool.ts";

export type ConnectionGuard = {
  /** Allows http and private addresses: for development and hosts from the settings. */
  allowsPrivate: boolean;
  connectMs?: number;
  /** For tests. */
  lookup?: LookupAddresses;
  /** For tests. */
  createConnector?: (options: buildConnector.BuildOptions) => buildConnector.connector;
};

export type GuardedFetchReason = UpstreamError["kind"] | "forbidden-address" | "too-large" | "wrong-type";

/** A failed fetch. The message is for the caller and never quotes the URL or the response. */
export class GuardedFetchError extends Error {
  override readonly name = "GuardedFetchError";
  readonly reason: GuardedFetchReason;

  constructor(reason: GuardedFetchReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

const defaultConnectMs = 5000;

/**
 * The SSRF guard of a connection: all addresses of the host must be public, the connection uses them without another
 * lookup, and the connected peer must be public too.
 */
export function createGuardedConnect(guard: ConnectionGuard): Connect {
  const { allowsPrivate, createConnector = buildConnector, connectMs: timeout = defaultConnectMs } = guard;
  const lookup = guard.lookup ?? (allowsPrivate ? lookupSystemAddresses : createPublicLookup());
  const isAllowed = (address = ""): boolean => allowsPrivate || isPublicAddress(address);

  /** All must be allowed: a name with one private address is suspicious. */
  async function findAddresses(host: string, signal: AbortSignal): Promise<readonly string[]> {
    const addresses = isIP(host) === 0 ? await lookup(host, signal) : [host];
    if (addresses.length === 0) throw new GuardedFetchError("unreachable", "The host of the URL was not found.");
    if (!addresses.every(isAllowed)) throw createForbidden();
    return addresses;
  }

  function connect(addresses: readonly string[], ...[options, callback]: Parameters<Connect>): ReturnType<Connect> {
    // No second lookup: the name could resolve differently by now (DNS rebinding).
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
  return new GuardedFetchError("forbidden-address", "The URL points to an address that is not public.");
}

/** Returns the checked addresses for every lookup of the socket. */
function createFixedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = all;
    if (options.all === true || first === undefined) callback(null, all);
    else callback(null, first.address, first.family);
  };
}
