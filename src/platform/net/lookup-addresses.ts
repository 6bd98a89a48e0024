import { lookup, Resolver } from "node:dns/promises";

/** All addresses of a name. Throws if there are none. */
export type LookupAddresses = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

const queryMsMax = 2000;
const triesMax = 2;

/**
 * Queries the name servers directly. `getaddrinfo` blocks one of a few threads until it returns, so user-supplied names
 * that never resolve could starve the gateway's own lookups.
 */
export function createPublicLookup({ servers }: { servers?: readonly string[] } = {}): LookupAddresses {
  return async (host, signal) => {
    const resolver = new Resolver({ timeout: queryMsMax, tries: triesMax });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (addresses.length === 0) throw new Error("The name has no addresses.");
      return addresses;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}

/** The system's resolver, with `localhost`, the hosts file and local names. */
export async function lookupSystemAddresses(host: string): Promise<readonly string[]> {
  const answers = await lookup(host, { all: true });
  return answers.map(({ address }) => address);
}
