import { Client } from "undici";
import { checkPublicUrl, getHost } from "./check-public-url.ts";
import { type ConnectionGuardParts, createConnectionGuard, GuardedFetchError } from "./guarded-connector.ts";
import { type ExchangeAnswer, ExchangeError, type ExchangeTimeouts, openExchange } from "./open-exchange.ts";

/**
 * Fetches what an upstream says that it made. The upstream is known, but where it sends us is not: every address on the
 * way is checked like a stranger's, unless it is on the upstream's own origin, or both are on this machine.
 */
export type Downloader = {
  /**
   * Answers when the bytes are about to come. Throws a `GuardedFetchError`, also in the midst of the bytes, or the
   * reason of the signal when that ends it.
   */
  open(url: string, options: DownloadOptions): Promise<Download>;
  /** Ends what is under way. */
  close(): Promise<void>;
};

type DownloadOptions = {
  /** Sent to the upstream's own origin and to nobody else. */
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
};

type Download = {
  /** Once. */
  read(): AsyncGenerator<Buffer, void, undefined>;
  /** Nobody wants the bytes, or more of them. */
  drop(): void;
};

type DownloaderParts = Omit<ConnectionGuardParts, "allowsPrivate"> & {
  /** The upstream's own, as the operator wrote it. */
  origin: string;
  bytesMax?: number;
  timeouts?: ExchangeTimeouts;
};

const bytesMaxUsual = 1024 * 1024 * 1024;
const timeoutsUsual: ExchangeTimeouts = { headMs: 30_000, idleMs: 30_000, totalMs: 15 * 60_000 };
const redirectsMax = 3;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function createDownloader(parts: DownloaderParts): Downloader {
  const { bytesMax = bytesMaxUsual, timeouts = timeoutsUsual } = parts;
  const own = new URL(parts.origin);
  const guards = {
    open: createConnectionGuard({ ...parts, allowsPrivate: false }),
    own: createConnectionGuard({ ...parts, allowsPrivate: true }),
  };
  const closing = new AbortController();

  async function ask(url: URL, { headers: ownHeaders, signal }: DownloadOptions): Promise<ExchangeAnswer> {
    const isOwnOrigin = url.origin === own.origin;
    const allowsPrivate = isOwnOrigin || (isLoopback(own) && isLoopback(url));
    const obstacle = checkPublicUrl(url.href, { allowsPrivate });
    if (obstacle !== null) throw new GuardedFetchError("forbidden-address", obstacle);
    const guard = allowsPrivate ? guards.own : guards.open;
    const addresses = await guard.findAddresses(getHost(url), signal);
    const client = new Client(url.origin, { connect: guard.createConnector(addresses) });
    const usual = { "user-agent": "sluice", "accept-encoding": "identity" };
    const headers = isOwnOrigin ? { ...ownHeaders, ...usual } : usual;
    const request = { method: "GET", path: url.pathname + url.search, headers, body: null, timeouts, signal } as const;
    return await openExchange(client, request, () => void client.destroy().catch(() => {}));
  }

  async function follow(text: string, options: DownloadOptions): Promise<ExchangeAnswer> {
    let url = parseUrl(text);
    for (let hop = 0; hop <= redirectsMax; hop += 1) {
      const answer = await ask(url, options);
      if (!redirectStatuses.has(answer.status)) return answer;
      answer.drop();
      url = parseUrl(answer.headers.location, url);
    }
    throw new GuardedFetchError("bad-answer", `The URL redirects more than ${redirectsMax} times.`);
  }

  return {
    async open(url, options) {
      const translate = (error: unknown): unknown =>
        options.signal.aborted ? options.signal.reason : translateError(error);
      try {
        const signal = AbortSignal.any([options.signal, closing.signal]);
        const answer = checkAnswer(await follow(url, { ...options, signal }), bytesMax);
        return { read: () => readTranslated(answer.read({ bytesMax }), translate), drop: answer.drop };
      } catch (error) {
        throw translate(error);
      }
    },
    async close() {
      closing.abort(new GuardedFetchError("unreachable", "The connections are closed."));
    },
  };
}

function parseUrl(text: string | string[] | undefined, base?: URL): URL {
  const url = typeof text === "string" ? URL.parse(text, base?.href) : null;
  if (url === null) throw new GuardedFetchError("bad-answer", "The URL is not valid.");
  return url;
}

/** Answers other than the bytes themselves are ended at once. */
function checkAnswer(answer: ExchangeAnswer, bytesMax: number): ExchangeAnswer {
  const { status, headers } = answer;
  const refuse = (reason: "bad-answer" | "too-large", message: string): never => {
    answer.drop();
    throw new GuardedFetchError(reason, message);
  };
  if (status !== 200) refuse("bad-answer", `The server of the URL answered with status ${status}.`);
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    refuse("bad-answer", "The server of the URL compresses its answer without being asked to.");
  }
  if (Number(headers["content-length"] ?? 0) > bytesMax) refuse("too-large", createTooLargeText(bytesMax));
  return answer;
}

async function* readTranslated(
  chunks: AsyncIterable<Buffer>,
  translate: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw translate(error);
  }
}

function translateError(error: unknown): unknown {
  if (!(error instanceof ExchangeError)) return error;
  if (error.cause instanceof GuardedFetchError) return error.cause;
  switch (error.kind) {
    case "too-large":
      return new GuardedFetchError("too-large", error.message, { cause: error });
    case "timeout":
      return new GuardedFetchError("timeout", "The server of the URL did not answer in time.", { cause: error });
    case "bad-answer":
      return new GuardedFetchError("bad-answer", "The server of the URL did not answer properly.", { cause: error });
    case "overloaded":
    case "unreachable":
      return new GuardedFetchError("unreachable", "The server of the URL could not be reached.", { cause: error });
  }
}

function createTooLargeText(bytesMax: number): string {
  return `What the URL leads to has more than ${bytesMax} bytes.`;
}

function isLoopback(url: URL): boolean {
  const host = getHost(url);
  return host === "localhost" || host === "::1" || /^127(?:\.\d+){3}$/.test(host);
}
