import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import type { buildConnector } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { allowPrivateFor, download } from "../../../src/platform/net/download.ts";
import { createGuardedClient, GuardedFetchError } from "../../../src/platform/net/guarded-client.ts";
import { type RecordingServer, startRecordingServer } from "../../harness/servers/recording-server.ts";
import { waitUntil } from "../../harness/wait-until.ts";

type ClientParts = Parameters<typeof createGuardedClient>[0];
type Options = Parameters<typeof download>[2];
type Parts = Omit<ClientParts, "allowsPrivate"> & Pick<Options, "origin" | "bytesMax" | "timeouts">;

const secret = { authorization: "Key sk-1" };

async function fetchText(parts: Parts, url: string, signal = new AbortController().signal): Promise<string> {
  const client = createGuardedClient({ ...parts, allowsPrivate: allowPrivateFor(parts.origin) });
  try {
    const { read } = await download(client, url, { ...parts, signal, headers: secret });
    return String(Buffer.concat(await Array.fromAsync(read())));
  } catch (error) {
    if (error instanceof GuardedFetchError) return error.reason;
    throw error;
  } finally {
    await client.close();
  }
}

async function serve(answer: Parameters<typeof startRecordingServer>[0]): Promise<RecordingServer> {
  const server = await startRecordingServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/**
 * A fake Internet: every name resolves to the test's address, and every connection goes to the server, over sockets
 * that appear to have that address.
 */
function pretendInternet(server: RecordingServer, addresses: Record<string, string>) {
  const { port } = new URL(server.url);
  const createConnector: Parts["createConnector"] =
    (options): buildConnector.connector =>
    ({ hostname }, callback) => {
      const { lookup } = options as { lookup(host: string, how: { all: true }, done: LookupDone): void };
      lookup(hostname, { all: true }, (_error, [first]) => {
        const socket = connect(Number(port), "127.0.0.1", () => {
          Object.defineProperty(socket, "remoteAddress", { value: first?.address });
          callback(null, socket);
        });
      });
    };
  const lookup = async (host: string) => [addresses[host] ?? "0.0.0.0"];
  return { createConnector, lookup, origin: "https://queue.vendor.example" };
}
type LookupDone = (error: null, addresses: { address: string }[]) => void;

describe("an upstream on the Internet", () => {
  const addresses = {
    "queue.vendor.example": "93.184.216.34",
    "cdn.vendor.example": "93.184.216.35",
    "inner.vendor.example": "10.0.0.7",
  };

  test("has its files downloaded from anywhere on the Internet, and keys go to its own origin only", async () => {
    const server = await serve((_, response) => void response.end("film"));
    const parts = pretendInternet(server, addresses);
    expect(await fetchText(parts, "https://cdn.vendor.example/a.mp4?x=1")).toBe("film");
    expect(await fetchText(parts, "https://queue.vendor.example/b.mp4")).toBe("film");
    expect(await fetchText(parts, "https://queue.vendor.example:8443/c.mp4")).toBe("film");
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/a.mp4?x=1", undefined],
      ["/b.mp4", "Key sk-1"],
      ["/c.mp4", undefined],
    ]);
  });

  test.for([
    "http://cdn.vendor.example/a",
    "http://queue.vendor.example/a",
    "https://inner.vendor.example/a",
    "https://127.0.0.1/a",
    "https://localhost/a",
    "https://[::1]/a",
    "https://169.254.169.254/latest",
    "https://2130706433/a",
    "https://user:secret@cdn.vendor.example/a",
    "file:///etc/passwd",
    "data:text/plain,a",
  ])("cannot send us to %s, directly or by a redirect", async (url) => {
    const server = await serve((_, response) => void response.writeHead(302, { location: url }).end());
    const parts = pretendInternet(server, addresses);
    expect(await fetchText(parts, url)).toBe("forbidden-address");
    expect(server.requests).toHaveLength(0);
    expect(await fetchText(parts, "https://cdn.vendor.example/a")).toBe("forbidden-address");
    expect(server.requests).toHaveLength(1);
  });

  test("does not get its key forwarded to another host", async () => {
    const server = await serve(({ path }, response) => {
      if (path === "/a") response.writeHead(307, { location: "https://cdn.vendor.example/b" }).end();
      else response.end("film");
    });
    expect(await fetchText(pretendInternet(server, addresses), "https://queue.vendor.example/a")).toBe("film");
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Key sk-1", undefined]);
  });
});

describe("an upstream on this machine", () => {
  test("may have its files there too, under another port or name", async () => {
    const own = await serve((_, response) => void response.end("own"));
    const other = await serve((_, response) => void response.end("other"));
    expect(await fetchText({ origin: own.url }, `${other.url}/a`)).toBe("other");
    expect(await fetchText({ origin: own.url }, `${other.url.replace("127.0.0.1", "localhost")}/a`)).toBe("other");
    expect(other.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
  });

  test.for(["http://10.0.0.1/a", "http://169.254.169.254/a", "http://example.com/a", "https://192.168.0.1/a"])(
    "cannot send us to another internal address, %s",
    async (url) => {
      const own = await serve((_, response) => void response.writeHead(301, { location: url }).end());
      expect(await fetchText({ origin: own.url }, `${own.url}/a`)).toBe("forbidden-address");
    },
  );
});

describe("a file", () => {
  test("is followed through three redirects, also relative ones, and no further", async () => {
    const own = await serve(({ path }, response) => {
      const left = Number(path.slice(1));
      if (left === 0) response.end("here");
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    expect(await fetchText({ origin: own.url }, `${own.url}/3`)).toBe("here");
    expect(await fetchText({ origin: own.url }, `${own.url}/4`)).toBe("bad-answer");
  });

  test("with a redirect without a target fails", async () => {
    const own = await serve((_, response) => void response.writeHead(302).end());
    expect(await fetchText({ origin: own.url }, own.url)).toBe("bad-answer");
    expect(own.requests).toHaveLength(1);
    expect(await fetchText({ origin: own.url }, "no address")).toBe("bad-answer");
  });

  test("with too many bytes is aborted, with or without a content length", async () => {
    const own = await serve(({ path }, response) => {
      if (path === "/said") response.writeHead(200, { "content-length": "11" });
      else response.writeHead(200);
      response.write("x".repeat(10));
      if (path !== "/right") response.write("x");
      response.end();
    });
    const parts = { origin: own.url, bytesMax: 10 };
    expect(await fetchText(parts, `${own.url}/said`)).toBe("too-large");
    expect(await fetchText(parts, `${own.url}/unsaid`)).toBe("too-large");
    expect(await fetchText(parts, `${own.url}/right`)).toBe("x".repeat(10));
  });

  test("is refused with any other status, and when it is compressed", async () => {
    const own = await serve(({ path }, response) => {
      if (path === "/gzip") response.writeHead(200, { "content-encoding": "gzip" }).end("x");
      else response.writeHead(Number(path.slice(1))).end("x");
    });
    for (const path of ["/403", "/404", "/206", "/500", "/gzip"]) {
      expect(await fetchText({ origin: own.url }, own.url + path)).toBe("bad-answer");
    }
  });

  test("that does not arrive, or stalls, times out", async () => {
    const own = await serve(({ path }, response) => {
      if (path === "/stops") response.writeHead(200).write("half");
    });
    const limits = { connectMs: 20_000, firstByteMs: 200, idleMs: 200, totalMs: 20_000 };
    for (const path of ["/never", "/stops"]) {
      expect(await fetchText({ origin: own.url, timeouts: limits }, own.url + path)).toBe("timeout");
      const total = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 200 };
      expect(await fetchText({ origin: own.url, timeouts: total }, own.url + path)).toBe("timeout");
    }
  });

  test("that is cut off or is not HTTP fails", async () => {
    const own = await serve((_, response) => {
      response.writeHead(200, { "content-length": "10" }).write("half", () => response.socket?.destroySoon());
    });
    expect(await fetchText({ origin: own.url }, own.url)).toBe("unreachable");
    const raw = createServer((socket) => void socket.on("error", () => {}).end("SSH-2.0-OpenSSH\r\n"));
    raw.listen(0, "127.0.0.1");
    await once(raw, "listening");
    onTestFinished(() => void raw.close());
    const url = `http://127.0.0.1:${(raw.address() as AddressInfo).port}`;
    expect(await fetchText({ origin: url }, url)).toBe("bad-answer");
  });

  test("is aborted with the signal's reason, and when its client closes", async () => {
    const own = await serve(() => {});
    const stop = new AbortController();
    const first = fetchText({ origin: own.url }, own.url, stop.signal);
    await waitUntil("the request", () => own.requests.length === 1);
    stop.abort(new Error("Nobody wants it."));
    await expect(first).rejects.toThrow("Nobody wants it.");
    const client = createGuardedClient({ allowsPrivate: true });
    const { signal } = new AbortController();
    const second = download(client, own.url, { origin: own.url, signal, headers: {} });
    second.catch(() => {});
    await waitUntil("the request", () => own.requests.length === 2);
    await client.close();
    await expect(second).rejects.toMatchObject({ reason: "unreachable" });
  });
});
