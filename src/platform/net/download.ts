import { getHost } from "./check-public-url.ts";
import { checkBytes, type ExchangeAnswer, type GuardedClient, type GuardedRequest } from "./guarded-client.ts";
import type { UpstreamTimeouts } from "./upstream-call.ts";

type DownloadOptions = {
  /** The upstream's origin from the catalog. */
  origin: string;
  /** Sent only to `origin`, not to redirect targets. */
  headers: Readonly<Record<string, string>>;
  signal: GuardedRequest["signal"];
  bytesMax?: number;
  timeouts?: UpstreamTimeouts;
};

const defaultBytesMax = 1024 * 1024 * 1024;
const defaultTimeouts = { connectMs: 30_000, firstByteMs: 60_000, idleMs: 30_000, totalMs: 15 * 60_000 };
const redirectsMax = 3;
const baseHeaders = { "user-agent": "sluice", "accept-encoding": "identity" };

/** Fetches an upstream's output; resolves when the head has arrived. */
export async function download(
  client: Pick<GuardedClient, "send">,
  url: string,
  { origin, headers, signal, bytesMax = defaultBytesMax, timeouts = defaultTimeouts }: DownloadOptions,
): Promise<{ read(): AsyncGenerator<Buffer, void, undefined>; drop: ExchangeAnswer["drop"] }> {
  const answer = await client.send(url, {
    headers: (at) => (isSameOrigin(at, origin) ? { ...headers, ...baseHeaders } : baseHeaders),
    body: null,
    connection: "fresh",
    ...{ signal, timeouts, redirectsMax },
  });
  checkBytes(answer, bytesMax);
  return { read: () => answer.read({ bytesMax }), drop: answer.drop };
}

/**
 * Private addresses are allowed on the upstream's own origin, which the operator chose, and from one loopback address to
 * another. Redirects elsewhere must be public.
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
