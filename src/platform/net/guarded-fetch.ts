import { Client, type Dispatcher, errors } from "undici";
import { checkPublicUrl, getHost } from "./check-public-url.ts";
import { type ConnectionGuardParts, createConnectionGuard, GuardedFetchError } from "./guarded-connector.ts";

export { GuardedFetchError } from "./guarded-connector.ts";

/**
 * Fetches what strangers give us as a URL. It reaches servers on the Internet only: the address in the URL, every
 * address that its name resolves to and the peer of the open connection are checked, and no redirect is followed.
 */
export type GuardedClient = {
  /** Throws a `GuardedFetchError`, or the reason of the caller's signal when that ends it. */
  fetchBytes(url: string, options: GuardedFetchOptions): Promise<{ bytes: Buffer; contentType: string }>;
  /** Ends what is under way. */
  close(): Promise<void>;
};

export type GuardedFetchOptions = {
  bytesMax: number;
  /** For everything together, from the name's lookup to the last byte. */
  timeoutMs: number;
  /** Media types such as `image/png`, without parameters; absent, any will do. */
  acceptedTypes?: readonly string[];
  signal?: AbortSignal;
};

type GuardedClientParts = ConnectionGuardParts & { headerBytesMax?: number };

const headerBytesMaxUsual = 16 * 1024;

export function createGuardedClient(parts: GuardedClientParts): GuardedClient {
  const { allowsPrivate } = parts;
  const guard = createConnectionGuard(parts);
  const closing = new AbortController();

  async function fetchWithin(
    url: URL,
    options: GuardedFetchOptions,
    signal: AbortSignal,
  ): ReturnType<typeof readAnswer> {
    const addresses = await guard.findAddresses(getHost(url), signal);
    // A client of its own for each URL keeps nothing that would grow with the number of hosts strangers can name.
    const client = new Client(url.origin, {
      connect: guard.createConnector(addresses),
      maxHeaderSize: parts.headerBytesMax ?? headerBytesMaxUsual,
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
    });
    try {
      const answer = await client.request({
        method: "GET",
        path: url.pathname + url.search,
        headers: {
          accept: options.acceptedTypes?.join(", ") ?? "*/*",
          // What is not compressed cannot unfold into more than was read.
          "accept-encoding": "identity",
          "user-agent": "Sluice",
        },
        signal,
      });
      return await readAnswer(answer, options);
    } finally {
      // Whatever the server still wants to send is of no interest; nobody waits for the end of it.
      client.destroy().catch(() => {});
    }
  }

  return {
    async fetchBytes(url, options) {
      options.signal?.throwIfAborted();
      const obstacle = checkPublicUrl(url, { allowsPrivate });
      if (obstacle !== null) throw new GuardedFetchError("forbidden-address", obstacle);
      const timeout = AbortSignal.timeout(options.timeoutMs);
      const signal = AbortSignal.any([
        timeout,
        closing.signal,
        ...(options.signal === undefined ? [] : [options.signal]),
      ]);
      try {
        signal.throwIfAborted();
        return await fetchWithin(new URL(url), options, signal);
      } catch (error) {
        options.signal?.throwIfAborted();
        throw translateError(error, { isLate: timeout.aborted });
      }
    },
    async close() {
      closing.abort();
    },
  };
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { bytesMax, acceptedTypes }: GuardedFetchOptions,
): Promise<{ bytes: Buffer; contentType: string }> {
  if (statusCode >= 300 && statusCode < 400) {
    throw new GuardedFetchError("bad-answer", "The URL redirects to another one; redirects are not followed.");
  }
  if (statusCode !== 200) {
    throw new GuardedFetchError("bad-answer", `The server of the URL answered with status ${statusCode}.`);
  }
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    throw new GuardedFetchError("bad-answer", "The server of the URL compresses its answer without being asked to.");
  }
  const contentType =
    String(headers["content-type"] ?? "")
      .split(";", 1)[0]
      ?.trim()
      .toLowerCase() ?? "";
  if (acceptedTypes !== undefined && !acceptedTypes.includes(contentType)) {
    throw new GuardedFetchError("wrong-type", `The URL has to lead to one of these: ${acceptedTypes.join(", ")}.`);
  }
  if (Number(headers["content-length"] ?? 0) > bytesMax) throw createTooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytesMax) throw createTooLarge(bytesMax);
    chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks, length), contentType };
}

function createTooLarge(bytesMax: number): GuardedFetchError {
  return new GuardedFetchError("too-large", `What the URL leads to has more than ${bytesMax} bytes.`);
}

function translateError(cause: unknown, { isLate }: { isLate: boolean }): GuardedFetchError {
  if (cause instanceof GuardedFetchError) return cause;
  if (isLate || isTimeout(cause)) {
    return new GuardedFetchError("timeout", "The server of the URL did not answer in time.", { cause });
  }
  if (isBadAnswer(cause)) {
    return new GuardedFetchError("bad-answer", "The server of the URL did not answer properly.", { cause });
  }
  return new GuardedFetchError("unreachable", "The server of the URL could not be reached.", { cause });
}

function isTimeout(error: unknown): boolean {
  return (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  );
}

function isBadAnswer(error: unknown): boolean {
  return (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError
  );
}
