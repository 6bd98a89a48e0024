import { once } from "node:events";
import { createServer } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../src/lib/clock.ts";
import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHeaders,
  UpstreamTimeouts,
} from "../../../src/platform/net/upstream-call.ts";
import { createConnect, createUpstreamPool, type UpstreamPool } from "../../../src/platform/net/upstream-pool.ts";
import { createTestClock } from "../../harness/test-clock.ts";
import {
  endConnection,
  type RawUpstream,
  rawChunk,
  rawHead,
  rawJson,
  rawLastChunk,
  rawStreamHead,
  resetConnection,
  startRawUpstream,
} from "../../harness/upstreams/raw-upstream.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const patient: UpstreamTimeouts = { connectMs: 30_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 30_000 };

type Heard = {
  call: UpstreamCall;
  status: number | null;
  headers: UpstreamHeaders;
  data: string;
  bytes: number;
  isEnded: boolean;
  error: UpstreamError | null;
  /** The order of the callbacks. */
  order: string[];
};

type Wish = { timeouts?: Partial<UpstreamTimeouts>; headers?: string[]; body?: string };

function send(pool: UpstreamPool, { timeouts = {}, headers = [], body = "{}" }: Wish = {}): Heard {
  const order: string[] = [];
  const request = { path: "/v1/x?y=z", headers, body, timeouts: { ...patient, ...timeouts } };
  const call = pool.dispatch(request, {
    onHead(status, headersHeard) {
      Object.assign(heard, { status, headers: headersHeard });
      order.push("head");
    },
    onData(chunk) {
      heard.data += chunk.toString("utf8");
      heard.bytes += chunk.length;
      order.push("data");
    },
    onEnd() {
      heard.isEnded = true;
      order.push("end");
    },
    onError(error) {
      heard.error = error;
      order.push("error");
    },
  });
  const heard: Heard = { call, status: null, headers: {}, data: "", bytes: 0, isEnded: false, error: null, order };
  return heard;
}

async function finish(heard: Heard): Promise<Heard> {
  await waitUntil("the call to be over", () => heard.isEnded || heard.error !== null);
  return heard;
}

function createPool(origin: string, more: { connectionsMax?: number; idleMs?: number; clock?: Clock } = {}) {
  const standard = { clock: systemClock, connect: createConnect({ timeoutMs: 30_000 }), connectionsMax: 100 };
  const pool = createUpstreamPool({ origin, ...standard, ...more });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.close() });
}

const greeting = rawJson({ hello: 1 });

test("a request arrives with its path, headers and body, and the answer comes back", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  upstream.answer(rawJson("Grüße", "201 Created", { "x-special": "yes" }));
  const heard = await finish(send(pool, { headers: ["x-key", "one"], body: '{"a":"ü"}' }));
  expect(heard).toMatchObject({ status: 201, data: "Grüße", error: null, order: ["head", "data", "end"] });
  expect(heard.headers["x-special"]).toBe("yes");
  expect(upstream.requests[0]?.head).toMatch(/^POST \/v1\/x\?y=z HTTP\/1.1\r\n/);
  expect(upstream.requests[0]?.head).toContain("x-key: one");
  expect(upstream.requests[0]?.body).toBe('{"a":"ü"}');
});

test("sequential calls share a connection, and concurrent calls do not", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  for (let count = 0; count < 5; count += 1) {
    upstream.answer(greeting);
    await finish(send(pool));
  }
  expect(upstream.connections.made).toBe(1);
  upstream.answer(greeting);
  upstream.answer(greeting);
  await Promise.all([finish(send(pool)), finish(send(pool))]);
  expect(upstream.connections.made).toBe(2);
});

test("more calls than connections are refused, and accepted again when one has ended", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin, { connectionsMax: 2 });
  const waiting = [send(pool), send(pool)];
  const refused = send(pool);
  expect(refused.error).toBeNull();
  expect((await finish(refused)).error?.kind).toBe("overloaded");
  await waitUntil("both requests to arrive", () => upstream.requests.length === 2);
  waiting[0]?.call.cancel();
  upstream.answer(greeting);
  expect((await finish(send(pool))).status).toBe(200);
  expect(waiting.map(({ order }) => order)).toEqual([[], []]);
});

test("a refused call that was canceled at once emits nothing", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin, { connectionsMax: 0 });
  const refused = send(pool);
  refused.call.cancel();
  const second = await finish(send(pool));
  expect(second.error?.kind).toBe("overloaded");
  expect(refused.order).toEqual([]);
});

test("an idle connection is closed after a while, and the next call opens a new one", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin, { idleMs: 20, connectionsMax: 1 });
  upstream.answer(greeting);
  await finish(send(pool));
  await waitUntil("the connection to be closed", () => upstream.connections.open === 0);
  upstream.answer(greeting);
  expect((await finish(send(pool))).status).toBe(200);
  expect(upstream.connections.made).toBe(2);
});

test("a connection that the upstream closes after its answer is not reused", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  upstream.answer(rawJson({}, "200 OK", { connection: "close" }), endConnection);
  await finish(send(pool));
  upstream.answer(greeting);
  expect((await finish(send(pool))).status).toBe(200);
  upstream.answer(greeting, endConnection);
  await finish(send(pool));
  await waitUntil("the connection to be closed", () => upstream.connections.open === 0);
  upstream.answer(greeting);
  expect((await finish(send(pool))).status).toBe(200);
});

test("a connection that broke while idle does not fail the next call", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  let goOn = (): void => {};
  let breakOff = (): void => {};
  const hold = () =>
    new Promise<void>((resolve) => {
      goOn = resolve;
    });
  upstream.answer(hold, (socket) => {
    socket.write(greeting);
    breakOff = () => socket.destroy();
  });
  const last = send(pool);
  await waitUntil("the first request", () => upstream.requests.length === 1);
  upstream.answer(greeting);
  await finish(send(pool));
  goOn();
  await finish(last);
  breakOff();
  await waitUntil("the connection to be closed", () => upstream.connections.open === 1);
  upstream.answer(greeting);
  await finish(send(pool));
  expect(upstream.connections.made).toBe(2);
});

test("a request that the upstream may have read is never sent twice", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  upstream.answer(greeting);
  await finish(send(pool));
  upstream.answer(resetConnection);
  upstream.answer(greeting);
  const heard = await finish(send(pool));
  expect(heard).toMatchObject({ status: null, order: ["error"] });
  expect(heard.error?.kind).toBe("unreachable");
  expect(upstream.requests).toHaveLength(2);
});

test.each([
  ["no HTTP at all", ["SSH-2.0-OpenSSH\r\n"], "bad-answer"],
  ["a malformed chunk length", [rawStreamHead, "zz\r\nabc\r\n"], "bad-answer"],
  ["a head that never ends", [`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`], "bad-answer"],
  ["a reset in the middle of the body", [rawStreamHead, rawChunk("abc"), resetConnection], "unreachable"],
  ["an end in the middle of the chunks", [rawStreamHead, rawChunk("abc"), endConnection], "unreachable"],
  [
    "an end before the promised length",
    [rawHead("200 OK", { "content-length": "10", connection: "close" }), "abc", endConnection],
    "unreachable",
  ],
  [
    "an end in the middle of the last connection's chunks",
    [rawHead("200 OK", { "transfer-encoding": "chunked", connection: "close" }), "5\r\nab", endConnection],
    "unreachable",
  ],
  ["an end without any answer", [endConnection], "unreachable"],
  [
    "an unwanted change of protocol",
    [rawHead("101 Switching Protocols", { upgrade: "x", connection: "upgrade" })],
    "unreachable",
  ],
] as const)("%s is reported once, and the next call works", async (_what, steps, kind) => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  upstream.answer(...steps);
  const heard = await finish(send(pool));
  expect(heard.error?.kind).toBe(kind);
  upstream.answer(greeting);
  expect((await finish(send(pool))).status).toBe(200);
  expect(heard.order.filter((what) => what === "error" || what === "end")).toEqual(["error"]);
});

test("a refused connection is unreachable", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  await using pool = createPool(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
  expect((await finish(send(pool))).error?.kind).toBe("unreachable");
});

test("a request that cannot be sent fails after the start, not during it", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  const heard = send(pool, { headers: ["x-key", "line\r\nbreak: yes"] });
  expect(heard.error).toBeNull();
  expect((await finish(heard)).error?.kind).toBe("unreachable");
  expect(upstream.requests).toEqual([]);
});

test("1xx responses are not taken for the answer", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  upstream.answer(rawHead("103 Early Hints", { link: "x" }), rawHead("102 Processing", {}), greeting);
  expect(await finish(send(pool))).toMatchObject({ status: 200, order: ["head", "data", "end"] });
});

test.each([
  ["a head that does not arrive", { firstByteMs: 40 }, []],
  ["a body that does not begin", { firstByteMs: 40 }, [rawStreamHead]],
  ["data that stops arriving", { idleMs: 40 }, [rawStreamHead, rawChunk("abc")]],
  ["a call that takes too long", { totalMs: 40 }, [rawStreamHead, rawChunk("abc")]],
  ["a flood of 1xx responses", { totalMs: 40 }, [rawHead("102 Processing", {}).repeat(50)]],
] as const)("%s is a time-out that closes the connection", async (_what, timeouts, steps) => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  upstream.answer(...steps);
  const heard = await finish(send(pool, { timeouts }));
  expect(heard.error?.kind).toBe("timeout");
  await waitUntil("the connection to be closed", () => upstream.connections.open === 0);
});

test("a connection that does not open is a time-out, and the attempt ends", async () => {
  await using upstream = await startRawUpstream();
  // The server never answers the TLS handshake.
  await using pool = createPool(upstream.origin.replace("http:", "https:"));
  const heard = send(pool, { timeouts: { connectMs: 40 } });
  await waitUntil("the attempt", () => upstream.connections.made === 1);
  expect((await finish(heard)).error).toMatchObject({ kind: "timeout", message: "The connection timed out." });
  await waitUntil("the end of the attempt", () => upstream.connections.open === 0);
});

test("silence between two pieces of data may be longer than the connect time-out", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  let goOn = (): void => {};
  upstream.answer(
    rawStreamHead,
    rawChunk("a"),
    () => new Promise<void>((resolve) => (goOn = resolve)),
    rawChunk("b"),
    rawLastChunk,
  );
  const heard = send(pool, { timeouts: { connectMs: 5000, firstByteMs: 20_000 } });
  await waitUntil("the first data", () => heard.data === "a");
  goOn();
  expect((await finish(heard)).data).toBe("ab");
});

test("a stall of this process does not count as silence of the upstream: buffered data is read first", async () => {
  await using upstream = await startRawUpstream();
  const clock = createTestClock();
  await using pool = createPool(upstream.origin, { clock });
  let goOn = (): void => {};
  upstream.answer(
    rawStreamHead,
    rawChunk("a"),
    (socket) =>
      new Promise<void>((resolve) => {
        goOn = () => {
          socket.write(rawChunk("b"));
          resolve();
        };
      }),
    rawLastChunk,
  );
  const heard = send(pool, { timeouts: { idleMs: 80 } });
  await waitUntil("the first data", () => heard.data === "a");
  // From here, timers come before pending reads.
  await nextTurn();
  goOn();
  clock.advance(1000);
  const stoodStillAt = performance.now();
  while (performance.now() - stoodStillAt < 30);
  expect(await finish(heard)).toMatchObject({ data: "ab", error: null });
});

async function fill(upstream: RawUpstream, pool: UpstreamPool, timeouts: Partial<UpstreamTimeouts> = {}) {
  const block = rawChunk("x".repeat(64 * 1024));
  const blocks = 400;
  let isWritten = false;
  upstream.answer(rawStreamHead, ...Array.from({ length: blocks }, () => block), (socket) => {
    socket.write(rawLastChunk, (error) => {
      isWritten = !error;
    });
  });
  const heard = send(pool, { timeouts });
  heard.call.pause();
  await waitUntil("the head", () => heard.status !== null);
  return { heard, bytes: blocks * 64 * 1024, isWritten: () => isWritten };
}

test("a paused call stops the upstream, does not count as silent, and resumes where it stopped", async () => {
  await using upstream = await startRawUpstream();
  const clock = createTestClock();
  await using pool = createPool(upstream.origin, { clock });
  const timeouts = { idleMs: 20, firstByteMs: 20 };
  const { heard, bytes, isWritten } = await fill(upstream, pool, timeouts);
  // The second of two calls with the same time-out shows that the paused one was checked in between.
  for (const requestCount of [2, 3]) {
    const other = send(pool, { timeouts });
    await waitUntil("another request", () => upstream.requests.length === requestCount);
    clock.advance(1000);
    expect((await finish(other)).error?.kind).toBe("timeout");
  }
  expect(heard.error).toBeNull();
  expect(isWritten()).toBe(false);
  expect(heard.bytes).toBeLessThan(1024 * 1024);
  heard.call.resume();
  await finish(heard);
  expect(heard).toMatchObject({ error: null, bytes });
});

test("silence counts from zero when a paused call resumes", async () => {
  await using upstream = await startRawUpstream();
  const clock = createTestClock();
  await using pool = createPool(upstream.origin, { clock });
  upstream.answer(rawStreamHead, rawChunk("abc"));
  // The shortest time-out sets how often a call is checked; this one passes only when the test lets it.
  const heard = send(pool, { timeouts: { idleMs: 20, connectMs: 1 } });
  await waitUntil("some data", () => heard.data !== "");
  heard.call.pause();
  clock.advance(1000);
  heard.call.resume();
  for (const requestCount of [2, 3]) {
    const other = send(pool, { timeouts: { firstByteMs: 5 } });
    await waitUntil("another request", () => upstream.requests.length === requestCount);
    clock.advance(5);
    expect((await finish(other)).error?.kind).toBe("timeout");
  }
  expect(heard.error).toBeNull();
  clock.advance(10);
  expect((await finish(heard)).error?.kind).toBe("timeout");
});

test("a call that was resumed and paused again at once stays paused", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  const { heard } = await fill(upstream, pool);
  heard.call.resume();
  heard.call.pause();
  upstream.answer(greeting);
  await finish(send(pool));
  expect(heard.bytes).toBeLessThan(1024 * 1024);
  heard.call.cancel();
});

test("a paused call still ends at its total time-out", async () => {
  await using upstream = await startRawUpstream();
  const clock = createTestClock();
  await using pool = createPool(upstream.origin, { clock });
  const { heard } = await fill(upstream, pool, { totalMs: 40 });
  clock.advance(40);
  expect((await finish(heard)).error?.kind).toBe("timeout");
});

test("a canceled call emits nothing more, and its connection is closed", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  upstream.answer(rawStreamHead, rawChunk("abc"));
  const heard = send(pool);
  await waitUntil("some data", () => heard.data !== "");
  heard.call.cancel();
  heard.call.cancel();
  heard.call.resume();
  await waitUntil("the connection to be closed", () => upstream.connections.open === 0);
  expect(heard.order).toEqual(["head", "data"]);
});

test("a drained call emits nothing, and its connection serves the next one when the answer has ended", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin, { connectionsMax: 1 });
  let goOn = (): void => {};
  const hold = () =>
    new Promise<void>((resolve) => {
      goOn = resolve;
    });
  upstream.answer(rawStreamHead, rawChunk("abc"), hold, rawChunk("rest"), rawLastChunk);
  const heard = send(pool);
  await waitUntil("some data", () => heard.data !== "");
  heard.call.pause();
  heard.call.drain();
  expect((await finish(send(pool))).error?.kind).toBe("overloaded");
  goOn();
  upstream.answer(greeting);
  await waitUntil("the connection to be free", async () => (await finish(send(pool))).isEnded);
  expect(heard.order).toEqual(["head", "data"]);
  expect(upstream.connections.made).toBe(1);
});

test("a drained call that keeps sending is cut off", async () => {
  await using upstream = await startRawUpstream();
  await using pool = createPool(upstream.origin);
  const { heard, isWritten } = await fill(upstream, pool);
  heard.call.drain();
  await waitUntil("the connection to be closed", () => upstream.connections.open === 0);
  expect(isWritten()).toBe(false);
  expect(heard.order.filter((what) => what !== "data")).toEqual(["head"]);
});

test("a drained call that does not end is cut off", async () => {
  await using upstream = await startRawUpstream();
  const clock = createTestClock();
  await using pool = createPool(upstream.origin, { clock });
  upstream.answer(rawStreamHead, rawChunk("abc"));
  const heard = send(pool, { timeouts: { connectMs: 20 } });
  await waitUntil("some data", () => heard.data !== "");
  heard.call.drain();
  clock.advance(1000);
  await waitUntil("the connection to be closed", () => upstream.connections.open === 0);
  expect(heard.order).toEqual(["head", "data"]);
});

test("closing ends idle and busy connections silently, and refuses later calls", async () => {
  await using upstream = await startRawUpstream();
  const pool = createPool(upstream.origin);
  upstream.answer(greeting);
  await Promise.all([finish(send(pool)), waitUntil("a connection", () => upstream.connections.open === 1)]);
  upstream.answer(rawStreamHead, rawChunk("abc"));
  const busy = send(pool);
  await waitUntil("some data", () => busy.data !== "");
  upstream.answer(greeting);
  await finish(send(pool));
  expect(upstream.connections.open).toBe(2);
  await pool.close();
  await waitUntil("all connections to be closed", () => upstream.connections.open === 0);
  expect(busy.order).toEqual(["head", "data"]);
  expect((await finish(send(pool))).error?.kind).toBe("unreachable");
});
