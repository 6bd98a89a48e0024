import { lookup, Resolver } from "node:dns/promises";

/** All addresses of a name. Throws where there is none; ends when the signal says so. */
export type LookupAddresses = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

const answerMsMax = 2000;
const triesMax = 2;

/**
 * Asks the name servers themselves. The system's own lookup keeps one of a few threads busy until it has an answer, so
 * strangers with names that never resolve could keep the gateway from finding its upstreams.
 */
export function createPublicLookup({ servers }: { servers?: readonly string[] } = {}): LookupAddresses {
  return async (host, signal) => {
    const resolver = new Resolver({ timeout: answerMsMax, tries: triesMax });
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

/** As every other program on this machine does: knows `localhost`, the hosts file and the names of the network. */
export async function lookupSystemAddresses(host: string): Promise<readonly string[]> {
  const answers = await lookup(host, { all: true });
  return answers.map(({ address }) => address);
}
