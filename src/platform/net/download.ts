import { getHost } from "./check-public-url.ts";
import { checkBytes, type ExchangeAnswer, type GuardedClient, type GuardedRequest } from "./guarded-client.ts";
import type { UpstreamTimeouts } from "./upstream-call.ts";

type DownloadOptions = {
  /** The upstream's own, as the operator wrote it. */
  origin: string;
  /** Sent to the upstream's own origin only. */
  headers: Readonly<Record<string, string>>;
  signal: GuardedRequest["signal"];
  bytesMax?: number;
  timeouts?: UpstreamTimeouts;
};

const bytesMaxStandard = 1024 * 1024 * 1024;
const timeoutsStandard = { connectMs: 30_000, firstByteMs: 60_000, idleMs: 30_000, totalMs: 15 * 60_000 };
const redirectsMax = 3;
const usualHeaders = { "user-agent": "sluice", "accept-encoding": "identity" };

/** Fetches what an upstream says that it made, and answers when the bytes are about to come. */
export async function download(
  client: Pick<GuardedClient, "send">,
  url: string,
  { origin, headers, signal, bytesMax = bytesMaxStandard, timeouts = timeoutsStandard }: DownloadOptions,
): Promise<{ read(): AsyncGenerator<Buffer, void, undefined>; drop: ExchangeAnswer["drop"] }> {
  const answer = await client.send(url, {
    headers: (at) => (isSameOrigin(at, origin) ? { ...headers, ...usualHeaders } : usualHeaders),
    body: null,
    connection: "fresh",
    ...{ signal, timeouts, redirectsMax },
  });
  checkBytes(answer, bytesMax);
  return { read: () => answer.read({ bytesMax }), drop: answer.drop };
}

/**
 * Where a private address is allowed for an upstream: it is the operator's choice, but where it sends us is not. So on
 * its own origin, and between two places on this machine.
 */
export function allowPrivateFor(origin: string): (url: URL) => boolean {
  const isHere = isLoopback(new URL(origin));
  return (url) => isSameOrigin(url, origin) || (isHere && isLoopback(url));
}

function isSameOrigin(url: URL, origin: string): boolean {
  return url.origin === new URL(origin).origin;
}

function isLoopback(url: URL): boolean {
  const host = getHost(url);
  return host === "localhost" || host === "::1" || /^127(?:\.\d+){3}$/.test(host);
}
