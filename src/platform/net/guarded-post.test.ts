import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { buildConnector } from "undici";
import { expect, onTestFinished, test } from "vitest";
import {
  type RecordedRequest,
  type RecordingServer,
  startRecordingServer,
} from "../../../test/harness/servers/recording-server.ts";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import { createGuardedClient, type GuardedClient, GuardedFetchError } from "./guarded-client.ts";

type ClientParts = Parameters<typeof createGuardedClient>[0];

/** Longer than any test. */
const forEverMs = 600_000;
const publicAddress = "93.184.216.34";
const { signal } = new AbortController();
const usual = { headers: { "x-word": "yes" }, body: "{}", bytesMax: 1000, timeoutMs: 30_000, signal };

function createSender(parts: Partial<ClientParts> = {}): GuardedClient {
  const sender = createGuardedClient({ allowsPrivate: true, ...parts });
  onTestFinished(() => sender.close());
  return sender;
}

/** The response's status and text, or the reason of the failure. */
async function post(sender: GuardedClient, url: string, more: Partial<typeof usual> = {}) {
  try {
    const { status, bytes } = await sender.post(url, { ...usual, ...more });
    return [status, bytes.toString()];
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
async function serveRaw(onData: (socket: Socket) => void): Promise<{ url: string; port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", () => onData(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, port, sockets };
}

test.each([200, 204, 302, 410, 500])("status %d is returned", async (status) => {
  const server = await serve((_, response) => response.writeHead(status, { location: "http://127.0.0.1:1/" }).end());
  expect(await post(createSender(), `${server.url}/a?b=1#c`)).toEqual([status, ""]);
  expect(server.requests).toMatchObject([{ method: "POST", path: "/a?b=1", headers: { "x-word": "yes" } }]);
  expect(server.requests[0]?.body.toString()).toBe("{}");
});

test("a connection is reused, and closed with the sender", async () => {
  const { url, sockets } = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
  const sender = createSender();
  for (let count = 0; count < 5; count += 1) expect(await post(sender, url)).toEqual([200, "ok"]);
  expect(sockets).toHaveLength(1);
  await sender.close();
  await waitUntil("the end of the connection", () => sockets[0]?.destroyed);
  expect(await post(sender, url)).toBe("unreachable");
});

test("an idle connection is closed", async () => {
  const { url, sockets } = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
  await post(createSender({ idleMs: 100 }), url);
  await waitUntil("the end of the connection", () => sockets[0]?.destroyed);
});

test("a broken reused connection is retried once; a broken new one is not", async () => {
  const answered = new Set<Socket>();
  const { url, sockets } = await serveRaw((socket) => {
    if (answered.has(socket)) socket.destroy();
    else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    answered.add(socket);
  });
  const sender = createSender();
  expect([await post(sender, url), await post(sender, url)]).toEqual([
    [200, "ok"],
    [200, "ok"],
  ]);
  expect(sockets).toHaveLength(2);
  const broken = await serveRaw((socket) => socket.destroy());
  expect(await post(sender, broken.url)).toBe("unreachable");
  expect(broken.sockets).toHaveLength(1);
});

test("the start of an endless response is read and its connection closed", async () => {
  const { url, sockets } = await serveRaw((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const go = (): boolean => socket.writable && socket.write("4\r\nmore\r\n", () => setImmediate(go));
    go();
  });
  // Only the size limit ends it, not a timeout.
  const answer = await post(createSender({ bodyMs: forEverMs }), url, { timeoutMs: forEverMs });
  expect(answer).toEqual([200, "more".repeat(250)]);
  await waitUntil("the end of the connection", () => sockets[0]?.destroyed);
});

test("a truncated response counts, because its status is known", async () => {
  const { url } = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"));
  expect(await post(createSender(), url)).toEqual([200, "half"]);
});

test.each([
  ["", "timeout"],
  ["HTTP/1.1 200 OK\r\ncontent-ty", "timeout"],
  ["SSH-2.0-OpenSSH\r\n", "bad-answer"],
  [`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`, "bad-answer"],
])("%j fails: %s", async (words, reason) => {
  const { url, sockets } = await serveRaw((socket) => socket.write(words));
  expect(await post(createSender(), url, { timeoutMs: 200 })).toBe(reason);
  await waitUntil("the end of the connection", () => sockets[0]?.destroyed);
});

test("the caller's signal aborts a request with its reason, and so does closing the sender", async () => {
  const { url, sockets } = await serveRaw(() => {});
  const sender = createSender();
  const controller = new AbortController();
  const reason = new Error("The caller has gone.");
  const waiting = post(sender, url, { signal: controller.signal });
  await waitUntil("the connection", () => sockets.length === 1);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(post(sender, url, { signal: controller.signal })).rejects.toBe(reason);
  const another = post(sender, url);
  await waitUntil("another connection", () => sockets.length === 2);
  await sender.close();
  expect(await another).toBe("unreachable");
  expect(sockets).toHaveLength(2);
});

test.each([
  "http://example.com/",
  "https://127.0.0.1/",
  "https://[::1]/",
  "https://2130706433/",
  "https://u@example.com/",
])("%s is rejected without a lookup", async (url) => {
  const lookup = () => Promise.reject(new Error("There was a lookup."));
  expect(await post(createSender({ allowsPrivate: false, lookup }), url)).toBe("forbidden-address");
});

test.each([
  [["127.0.0.1"]],
  [["10.1.2.3"]],
  [["100.64.0.1"]],
  [["169.254.169.254"]],
  [["::1"]],
  [["::ffff:127.0.0.1"]],
  [["64:ff9b::7f00:1"]],
  [["2002:7f00:1::"]],
  [["fe80::1"]],
  [[publicAddress, "192.168.0.1"]],
])("a name that resolves to %j is rejected before connecting", async (addresses) => {
  const createConnector = (): never => {
    throw new Error("There was a connection.");
  };
  const sender = createSender({ allowsPrivate: false, lookup: async () => addresses, createConnector });
  expect(await post(sender, "https://example.com/")).toBe("forbidden-address");
});

test("a name rebound between check and connection connects to the checked address", async () => {
  const { port, sockets } = await serveRaw(() => {});
  const addresses = [publicAddress];
  const asked: unknown[] = [];
  const sender = createSender({
    allowsPrivate: false,
    lookup: async () => addresses,
    createConnector(options) {
      addresses[0] = "127.0.0.1";
      return (_, callback) => {
        if (!("lookup" in options) || options.lookup === undefined) throw new Error("There is no lookup.");
        options.lookup("example.com", { all: true }, (_error, all) => asked.push(all));
        callback(new Error("That is all that is asked."), null);
      };
    },
  });
  expect(await post(sender, `https://example.com:${port}/`)).toBe("unreachable");
  expect([asked, sockets]).toEqual([[[{ address: publicAddress, family: 4 }]], []]);
  // The next attempt resolves the name again and is rejected.
  expect(await post(sender, `https://example.com:${port}/`)).toBe("forbidden-address");
});

test("a peer that turns out to be private gets no request", async () => {
  const received: Socket[] = [];
  const { port, sockets } = await serveRaw((socket) => received.push(socket));
  const sender = createSender({
    allowsPrivate: false,
    lookup: async () => [publicAddress],
    // Simulates a network that redirects a public address.
    createConnector: () => (_, callback) =>
      buildConnector({})({ hostname: "127.0.0.1", protocol: "http:", port: String(port) }, callback),
  });
  expect(await post(sender, "https://example.com/")).toBe("forbidden-address");
  await waitUntil("the end of the connection", () => sockets.length === 1 && sockets[0]?.destroyed);
  expect(received).toEqual([]);
});
