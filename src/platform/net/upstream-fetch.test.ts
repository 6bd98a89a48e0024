// @module-tag slow
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { startRecordingServer } from "../../../test/harness/servers/recording-server.ts";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import { createUpstreamFetch } from "./upstream-fetch.ts";

const patient = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 40_000 };

function open(timeouts: Partial<typeof patient> = {}) {
  const upstream = createUpstreamFetch();
  onTestFinished(upstream.close);
  const heads: number[] = [];
  const call = upstream.openCall({ timeouts: { ...patient, ...timeouts }, onHead: (status) => heads.push(status) });
  return { upstream, call, heads };
}

async function startServer(answer: Parameters<typeof startRecordingServer>[0]) {
  const server = await startRecordingServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** A raw TCP server: each connection gets these bytes, or nothing. */
async function startRawServer(bytes: string | null) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    if (bytes === null) socket.resume();
    else socket.once("data", () => socket.end(bytes));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

describe("a fetch", () => {
  test("sends the request and returns status, headers and body", async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(201, { "x-one": "1", "set-cookie": ["a=1", "b=2"] }).end("done");
    });
    const { call, heads } = open();
    const response = await call.fetch(`${server.url}/a/b?c=d`, {
      method: "POST",
      body: "text",
      headers: { "x-two": "2" },
    });
    expect([
      response.status,
      response.headers.get("x-one"),
      response.headers.getSetCookie(),
      await response.text(),
    ]).toEqual([201, "1", ["a=1", "b=2"], "done"]);
    expect(server.requests[0]).toMatchObject({ method: "POST", path: "/a/b?c=d", body: Buffer.from("text") });
    expect(server.requests[0]?.headers).toMatchObject({ "x-two": "2", "accept-encoding": "identity" });
    expect([heads, call.failure]).toEqual([[201], null]);
    await call.fetch(new URL(server.url), { method: "POST", body: new Uint8Array([65]) });
    expect(server.requests[1]?.body).toEqual(Buffer.from("A"));
  });

  test("follows no redirect", async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(302, { location: "http://elsewhere.example/" }).end();
    });
    const { call } = open();
    expect((await call.fetch(server.url)).status).toBe(302);
    expect(server.requests).toHaveLength(1);
  });

  test("has a null body for statuses without one", async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(204).end();
    });
    expect((await open().call.fetch(server.url)).body).toBeNull();
  });

  test.for(["HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n", "SSH-2.0-OpenSSH\r\n"])(
    "fails with a reason if the server sends %j",
    async (bytes) => {
      const server = await startRawServer(bytes);
      const { call } = open();
      await expect(call.fetch(`http://${server.host}`)).rejects.toThrow();
      expect(["bad-answer", "unreachable"]).toContain(call.failure?.kind);
    },
  );

  test("skips informational responses", async () => {
    const server = await startRawServer(
      "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    );
    const { call, heads } = open();
    const response = await call.fetch(`http://${server.host}`);
    expect([heads, await response.text()]).toEqual([[200], "ok"]);
  });

  test("is rejected after too many requests in one call", async () => {
    const server = await startServer((_request, response) => {
      response.end("more");
    });
    const { call } = open();
    for (let count = 0; count < 8; count += 1) await (await call.fetch(server.url)).text();
    await expect(call.fetch(server.url)).rejects.toThrow();
    expect([server.requests.length, call.failure?.kind]).toEqual([8, "bad-answer"]);
  });

  test("rejects bodies other than text or bytes", async () => {
    const { call } = open();
    await expect(call.fetch("http://upstream.example", { method: "POST", body: new FormData() })).rejects.toThrow(
      "text or bytes",
    );
  });
});

describe("a timeout", () => {
  test("covers connecting, including the TLS handshake", async () => {
    const server = await startRawServer(null);
    const { call } = open({ connectMs: 200 });
    await expect(call.fetch(`https://${server.host}`)).rejects.toThrow();
    expect(call.failure).toEqual({ kind: "timeout", reason: "The connection timed out." });
    expect(call.signal.aborted).toBe(true);
  });

  test("for connecting ends with the connection", async () => {
    const responses: ServerResponse[] = [];
    const server = await startServer((_request, response) => {
      responses.push(response);
    });
    const { call } = open({ connectMs: 1000 });
    const fetching = call.fetch(server.url);
    await waitUntil("the request", () => responses.length > 0);
    const askedAt = performance.now();
    await waitUntil("more time than connecting may take", () => performance.now() - askedAt > 1200);
    responses[0]?.end();
    expect((await fetching).status).toBe(200);
  });

  test("covers waiting for the response head", async () => {
    const server = await startRawServer(null);
    const { call } = open({ firstByteMs: 200 });
    await expect(call.fetch(`http://${server.host}`)).rejects.toThrow();
    expect(call.failure).toEqual({ kind: "timeout", reason: "The first byte timed out." });
    await waitUntil("the socket is closed", () => server.sockets[0]?.closed);
  });

  test("covers idle time within a response", async () => {
    const server = await startServer(async (_request, response) => {
      for (let count = 0; count < 18; count += 1) {
        response.write("data");
        await new Promise((later) => setTimeout(later, 100));
      }
    });
    const { call } = open({ idleMs: 1500 });
    const response = await call.fetch(server.url);
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })();
    await expect(reading).rejects.toThrow();
    expect([text, call.failure]).toEqual(["data".repeat(18), { kind: "timeout", reason: "The response stalled." }]);
  });

  test("covers the whole call", async () => {
    const { call } = open({ totalMs: 100 });
    await waitUntil("the end", () => call.signal.aborted);
    expect(call.failure).toEqual({ kind: "timeout", reason: "The call timed out." });
    await expect(call.fetch("http://upstream.example")).rejects.toThrow();
  });

  test.for(["before", "after"] as const)(
    "does not run while the call is paused %s its start, and almost no data arrives",
    async (moment) => {
      const size = 8 * 1024 * 1024;
      const responses: ServerResponse[] = [];
      const server = await startServer((_request, response) => {
        response.write("x");
        responses.push(response);
      });
      const { call } = open({ firstByteMs: 400, idleMs: 400 });
      if (moment === "before") call.pause();
      const response = await call.fetch(server.url);
      let byteCount = 0;
      const reading = (async () => {
        for await (const chunk of response.body ?? []) byteCount += chunk.length;
      })();
      if (moment === "after") {
        await waitUntil("the beginning", () => byteCount === 1);
        call.pause();
      }
      responses[0]?.end(Buffer.alloc(size - 1, "x"));
      const pausedAt = performance.now();
      await waitUntil("much more time than is allowed", () => performance.now() - pausedAt > 1500);
      expect(call.failure).toBeNull();
      expect(byteCount).toBeLessThan(size / 8);
      call.resume();
      await reading;
      expect(byteCount).toBe(size);
    },
  );

  test("does not run while the body is not read, and no data is lost", async () => {
    const size = 8 * 1024 * 1024;
    const server = await startServer((_request, response) => {
      response.end(Buffer.alloc(size, "x"));
    });
    const { call } = open({ idleMs: 400 });
    const response = await call.fetch(server.url);
    const unreadAt = performance.now();
    await waitUntil("much more time than is allowed", () => performance.now() - unreadAt > 1500);
    expect(call.failure).toBeNull();
    expect((await response.arrayBuffer()).byteLength).toBe(size);
  });
});

describe("an answer", () => {
  test("that is not read stays at the upstream (back-pressure)", async () => {
    let sent = 0;
    const server = await startServer((_request, response) => {
      const send = (): void => {
        sent += 65_536;
        response.write(Buffer.alloc(65_536), (error) => {
          if (!error && !response.destroyed) send();
        });
      };
      send();
    });
    const { call } = open();
    await call.fetch(server.url);
    let seen = -1;
    let stillLooks = 0;
    await waitUntil("nothing more is taken", () => {
      stillLooks = seen === sent ? stillLooks + 1 : 0;
      seen = sent;
      return stillLooks > 10;
    });
    // The kernel buffers both sockets; we buffer almost nothing.
    expect(sent).toBeLessThan(30 * 1024 * 1024);
  });

  test("that breaks off fails after its received data was read", async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-length": "100000" });
      response.write("x".repeat(50_000), () => response.destroy());
    });
    const { call } = open();
    const response = await call.fetch(server.url);
    let size = 0;
    const reading = (async () => {
      for await (const chunk of response.body ?? []) size += chunk.length;
    })();
    await expect(reading).rejects.toThrow();
    expect([size, call.failure?.kind]).toEqual([50_000, "unreachable"]);
  });

  test("that breaks off before it is read keeps its received data", async () => {
    const responses: ServerResponse[] = [];
    const server = await startServer((_request, response) => {
      responses.push(response);
      response.writeHead(200, { "content-length": "100000" });
      response.write("x".repeat(50_000), () => response.destroy());
    });
    const { call } = open();
    const response = await call.fetch(server.url);
    await waitUntil("the break", () => responses[0]?.closed);
    const brokenAt = performance.now();
    await waitUntil("time to notice it", () => performance.now() - brokenAt > 200);
    let text = "";
    const reading = (async () => {
      // Libraries pipe the body through other streams, where an error can overtake data.
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
    })();
    await expect(reading).rejects.toThrow();
    expect([text.length, call.failure?.kind]).toEqual([50_000, "unreachable"]);
  });

  test.for([
    ["application/json", 33, "too large"],
    ["text/event-stream", 5, "too long"],
  ] as const)("of type %s larger than %i MiB is a bad-answer failure", async ([type, mebibytes, words]) => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": type });
      response.end(Buffer.alloc(mebibytes * 1024 * 1024, "x"));
    });
    const { call } = open();
    await expect((await call.fetch(server.url)).text()).rejects.toThrow();
    expect(call.failure).toEqual({ kind: "bad-answer", reason: expect.stringContaining(words) });
  });

  test("of many short lines may be long", async () => {
    const line = `${"x".repeat(1023)}\n`;
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(line.repeat(5 * 1024));
    });
    const { call } = open();
    expect((await (await call.fetch(server.url)).text()).length).toBe(5 * 1024 * 1024);
  });
});

describe("the end of a call", () => {
  test("closes the socket at once, even during a response", async () => {
    const responses: ServerResponse[] = [];
    const server = await startServer((_request, response) => {
      response.write("data");
      responses.push(response);
    });
    const { call } = open();
    const response = await call.fetch(server.url);
    const closed = new Promise((done) => responses[0]?.once("close", done));
    call.end();
    await closed;
    await expect(response.text()).rejects.toThrow();
    expect(call.failure).toBeNull();
    await expect(call.fetch(server.url)).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
  });

  test("while connecting sends no request", async () => {
    const server = await startServer((_request, response) => {
      response.end();
    });
    const { call, upstream } = open();
    const fetching = call.fetch(server.url, { method: "POST", body: "x" });
    call.end();
    await expect(fetching).rejects.toThrow();
    const other = upstream.openCall({ timeouts: patient, onHead: () => {} });
    await (await other.fetch(`${server.url}/other`)).text();
    expect(server.requests.map(({ path }) => path)).toEqual(["/other"]);
  });

  test("comes with closing the upstream, and later calls fail", async () => {
    const server = await startRawServer(null);
    const { call, upstream } = open();
    const fetching = call.fetch(`http://${server.host}`);
    await waitUntil("the connection", () => server.sockets.length > 0);
    await Promise.all([upstream.close(), expect(fetching).rejects.toThrow()]);
    expect([call.signal.aborted, call.failure]).toEqual([true, null]);
    const late = upstream.openCall({ timeouts: patient, onHead: () => {} });
    await expect(late.fetch(`http://${server.host}`)).rejects.toThrow();
    expect(late.failure?.kind).toBe("unreachable");
  });
});
