import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { buildConnector } from "undici";
import { expect, onTestFinished, test } from "vitest";
import {
  type RecordedRequest,
  type RecordingServer,
  startRecordingServer,
} from "../../../test/harness/servers/recording-server.ts";
import { createSelfSignedCertificate } from "../../../test/harness/servers/self-signed-certificate.ts";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import { createGuardedClient, GuardedFetchError, type GuardedFetchOptions } from "./guarded-client.ts";

type ClientParts = Parameters<typeof createGuardedClient>[0];
type Outcome = { bytes: string; contentType: string } | string;

const publicAddress = "93.184.216.34";
const usual: GuardedFetchOptions = { bytesMax: 1000, timeoutMs: 30_000 };

function createClient(parts: Partial<ClientParts> = {}): ReturnType<typeof createGuardedClient> {
  const client = createGuardedClient({ allowsPrivate: true, ...parts });
  onTestFinished(() => client.close());
  return client;
}

/** Returns the text, or the reason of the failure. */
async function fetchText(
  url: string,
  options: Partial<GuardedFetchOptions> = {},
  parts: Partial<ClientParts> = {},
): Promise<Outcome> {
  try {
    const { bytes, contentType } = await createClient(parts).fetchBytes(url, { ...usual, ...options });
    return { bytes: bytes.toString(), contentType };
  } catch (error) {
    if (error instanceof GuardedFetchError) return error.reason;
    throw error;
  }
}

async function serve(answer: (request: RecordedRequest, response: ServerResponse) => void): Promise<RecordingServer> {
  const server = await startRecordingServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** A raw TCP server that records its connections. */
async function serveRaw(
  speak: (socket: Socket) => void,
): Promise<{ port: number; sockets: Socket[]; received: string[] }> {
  const sockets: Socket[] = [];
  const received: string[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => received.push(String(data)));
    speak(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets, received };
}

test("fetches an image with its type and does not accept compression", async () => {
  const server = await serve((_, response) => {
    response.setHeader("content-type", "Image/PNG; charset=binary").end("pixels");
  });
  const outcome = await fetchText(`${server.url}/a%20b.png?size=2#top`, { acceptedTypes: ["image/jpeg", "image/png"] });
  expect(outcome).toEqual({ bytes: "pixels", contentType: "image/png" });
  const [request] = server.requests;
  expect(request).toMatchObject({ method: "GET", path: "/a%20b.png?size=2" });
  expect(request?.headers).toMatchObject({ "accept-encoding": "identity", accept: "image/jpeg, image/png" });
});

test("fetches up to the maximum size and not one byte more", async () => {
  const server = await serve((_, response) => response.end("x".repeat(1000)));
  expect(await fetchText(server.url, { bytesMax: 1000 })).toMatchObject({ bytes: "x".repeat(1000) });
  expect(await fetchText(server.url, { bytesMax: 999 })).toBe("too-large");
});

test("a response with a too large Content-Length is not read", async () => {
  const { port, sockets } = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n"));
  expect(await fetchText(`http://127.0.0.1:${port}/`)).toBe("too-large");
  await waitUntil("the connection is closed", () => sockets.every(({ destroyed }) => destroyed));
});

test("an endless response is aborted and its connection closed", async () => {
  const { port, sockets } = await serveRaw((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const go = (): boolean => socket.writable && socket.write("4\r\nmore\r\n", () => setImmediate(go));
    go();
  });
  expect(await fetchText(`http://127.0.0.1:${port}/`)).toBe("too-large");
  await waitUntil("the connection is closed", () => sockets.every(({ destroyed }) => destroyed));
});

test.each([
  ["says nothing", ""],
  ["begins a header", "HTTP/1.1 200 OK\r\ncontent-ty"],
  ["begins a body", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"],
])("a server that %s and then is silent times out", async (_, words) => {
  const { port, sockets } = await serveRaw((socket) => socket.write(words));
  expect(await fetchText(`http://127.0.0.1:${port}/`, { timeoutMs: 300 })).toBe("timeout");
  await waitUntil("the connection is closed", () => sockets.every(({ destroyed }) => destroyed));
});

test("a server that trickles bytes times out too", async () => {
  const { port } = await serveRaw((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n");
    const timer = setInterval(() => socket.write("."), 20);
    socket.on("close", () => clearInterval(timer));
  });
  expect(await fetchText(`http://127.0.0.1:${port}/`, { timeoutMs: 300 })).toBe("timeout");
});

test("a redirect is not followed", async () => {
  const target = await serve((_, response) => response.end("inner"));
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await serve((_, response) => response.writeHead(status, { location: target.url }).end());
    await expect(createClient().fetchBytes(server.url, usual)).rejects.toMatchObject({
      reason: "bad-answer",
      message: "The URL redirects. Use the final URL; redirects are not followed.",
    });
  }
  expect(target.requests).toEqual([]);
});

test.each([201, 204, 206, 400, 404, 500])("status %d is a failure", async (status) => {
  const server = await serve((_, response) => response.writeHead(status).end());
  expect(await fetchText(server.url)).toBe("bad-answer");
});

test("a compressed response is rejected without decompression", async () => {
  const server = await serve((_, response) => {
    response.setHeader("content-encoding", "gzip").end(gzipSync("x".repeat(100_000)));
  });
  expect(await fetchText(server.url)).toBe("bad-answer");
});

test.each([
  ["HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n", "wrong-type"],
  ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "wrong-type"],
  ["HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n", "wrong-type"],
  ["SSH-2.0-OpenSSH\r\n", "bad-answer"],
  ["HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\n", "bad-answer"],
  [`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`, "bad-answer"],
  ["HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 9\r\n\r\nhalf", "unreachable"],
])("%j fails with %s", async (words, reason) => {
  const { port } = await serveRaw((socket) => socket.end(words));
  expect(await fetchText(`http://127.0.0.1:${port}/`, { acceptedTypes: ["image/png"] })).toBe(reason);
});

test("a closed port or an unknown name is unreachable", async () => {
  const { port } = await serveRaw(() => {});
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const freePort = (closed.address() as AddressInfo).port;
  await new Promise((done) => closed.close(done));
  expect(freePort).not.toBe(port);
  expect(await fetchText(`http://127.0.0.1:${freePort}/`)).toBe("unreachable");
  const unknown = async (): Promise<never> => Promise.reject(new Error("queryA ENOTFOUND"));
  expect(await fetchText("http://nobody.example/", {}, { lookup: unknown })).toBe("unreachable");
  expect(await fetchText("http://nobody.example/", {}, { lookup: async () => [] })).toBe("unreachable");
});

test("an invalid or private URL is rejected without a lookup", async () => {
  const parts = { allowsPrivate: false, lookup: () => Promise.reject(new Error("There was a lookup.")) };
  for (const url of [
    "http://example.com/",
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://localhost/",
    "https://2130706433/",
  ]) {
    expect(await fetchText(url, {}, parts)).toBe("forbidden-address");
  }
});

test.each([
  [["127.0.0.1"]],
  [["::1"]],
  [["169.254.169.254"]],
  [[publicAddress, "10.0.0.1"]],
  [["fd00::1", publicAddress]],
  [["not an address"]],
])("a name that resolves to %j is rejected before connecting", async (addresses) => {
  const createConnector = (): never => {
    throw new Error("There was a connection.");
  };
  const parts = { allowsPrivate: false, lookup: async () => addresses, createConnector };
  expect(await fetchText("https://example.com/", {}, parts)).toBe("forbidden-address");
});

test("a name is resolved once, so DNS rebinding has no effect", async () => {
  const server = await serve((request, response) => response.end(request.headers.host));
  const { port } = new URL(server.url);
  const answers = [["127.0.0.1"], ["127.0.0.2"]];
  const lookup = async (): Promise<string[]> => answers.shift() ?? [];
  expect(await fetchText(`http://rebinding.example:${port}/`, {}, { lookup })).toMatchObject({
    bytes: `rebinding.example:${port}`,
  });
  expect(answers).toHaveLength(1);
});

test("the connection goes to the checked address", async () => {
  const { port, received, sockets } = await serveRaw(() => {});
  const addresses = [publicAddress];
  const asked: unknown[] = [];
  const parts: Partial<ClientParts> = {
    allowsPrivate: false,
    lookup: async () => addresses,
    createConnector(options) {
      addresses[0] = "127.0.0.1";
      return (_, callback) => {
        if (!("lookup" in options) || options.lookup === undefined) throw new Error("There is no lookup.");
        options.lookup("example.com", { all: true }, (_error, all) => asked.push(all));
        options.lookup("example.com", {}, (_error, first, family) => asked.push([first, family]));
        callback(new Error("That is all that is asked."), null);
      };
    },
  };
  expect(await fetchText(`https://example.com:${port}/`, {}, parts)).toBe("unreachable");
  expect(asked).toEqual([[{ address: publicAddress, family: 4 }], [publicAddress, 4]]);
  expect([received, sockets]).toEqual([[], []]);
});

test("a peer that turns out to be private gets no request", async () => {
  const { port, received, sockets } = await serveRaw(() => {});
  const parts: Partial<ClientParts> = {
    allowsPrivate: false,
    lookup: async () => [publicAddress],
    // Simulates a network that redirects a public address.
    createConnector: () => (_, callback) =>
      buildConnector({})({ hostname: "127.0.0.1", protocol: "http:", port: String(port) }, callback),
  };
  expect(await fetchText("https://example.com/", {}, parts)).toBe("forbidden-address");
  await waitUntil("the connection is closed", () => sockets.length === 1 && sockets[0]?.destroyed);
  expect(received).toEqual([]);
});

test("over https, the certificate must match the URL's host at the checked address", async () => {
  const { key, cert } = createSelfSignedCertificate("proven.example");
  const server = createSecureServer({ key, cert }, (_, response) => response.end("proven")).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const lookup = async (): Promise<string[]> => ["127.0.0.1"];
  const createConnector = (options: buildConnector.BuildOptions): buildConnector.connector =>
    buildConnector({ ...options, ca: cert });
  const url = `https://proven.example:${port}/`;
  expect(await fetchText(url, {}, { lookup, createConnector })).toMatchObject({ bytes: "proven" });
  expect(await fetchText(url, {}, { lookup })).toBe("unreachable");
  expect(await fetchText(`https://other.example:${port}/`, {}, { lookup, createConnector })).toBe("unreachable");
});

test("tries the next address if one does not respond", async () => {
  const server = await serve((_, response) => response.end("here"));
  const { port } = new URL(server.url);
  const lookup = async (): Promise<string[]> => ["::1", "127.0.0.1"];
  expect(await fetchText(`http://two.example:${port}/`, {}, { lookup })).toMatchObject({ bytes: "here" });
});

test("the caller's signal aborts a fetch at any time with its reason", async () => {
  const { port, sockets } = await serveRaw((socket) =>
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"),
  );
  const url = `http://127.0.0.1:${port}/`;
  const reason = new Error("The caller has gone.");
  await expect(fetchText(url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(sockets).toEqual([]);
  const controller = new AbortController();
  const reading = fetchText(url, { signal: controller.signal });
  await waitUntil("the answer has begun", () => sockets.length === 1);
  controller.abort(reason);
  await expect(reading).rejects.toBe(reason);
  await waitUntil("the connection is closed", () => sockets[0]?.destroyed);
});

test("a stuck lookup times out or ends with the caller's signal", async () => {
  const signals: AbortSignal[] = [];
  const lookup = (_: string, signal: AbortSignal): Promise<never> => {
    signals.push(signal);
    return new Promise(() => {});
  };
  expect(await fetchText("http://slow.example/", { timeoutMs: 50 }, { lookup })).toBe("timeout");
  expect(signals[0]?.aborted).toBe(true);
  const controller = new AbortController();
  const waiting = fetchText("http://slow.example/", { signal: controller.signal }, { lookup });
  await waitUntil("the lookup", () => signals.length === 2);
  controller.abort("gone");
  await expect(waiting).rejects.toBe("gone");
});

test("close aborts running fetches and rejects new ones", async () => {
  const { port, sockets } = await serveRaw(() => {});
  const client = createClient();
  const waiting = client.fetchBytes(`http://127.0.0.1:${port}/`, usual);
  await waitUntil("the connection", () => sockets.length === 1);
  await client.close();
  await expect(waiting).rejects.toMatchObject({ reason: "unreachable" });
  await expect(client.fetchBytes(`http://127.0.0.1:${port}/`, usual)).rejects.toMatchObject({ reason: "unreachable" });
  expect(sockets).toHaveLength(1);
});

test("no error message contains the URL or the response", async () => {
  const server = await serve((_, response) => response.writeHead(404, { "content-type": "secret" }).end("secret"));
  const failing = createClient().fetchBytes(`${server.url}/secret?token=secret`, usual);
  await expect(failing).rejects.toThrow("The URL returned status 404.");
});
