import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import {
  type AccessWatch,
  createHeartbeats,
  type EventStream,
  type Heartbeats,
  openEventStream,
} from "./event-stream.ts";

const intervalMs = 15_000;
const beat = ": \n\n";

type Place = {
  server: Server;
  heartbeats: Heartbeats;
  response: ServerResponse;
  stream: EventStream;
  client: Socket;
  read(): string;
  drains(): number;
};

const closers: (() => Promise<void>)[] = [];

/** A stream over a real connection. */
async function openPlace(
  headers: Record<string, string> = {},
  access: AccessWatch | "admitted" = "admitted",
): Promise<Place> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => {});
  let read = "";
  client.setEncoding("utf8").on("data", (text: string) => {
    read += text;
  });
  client.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  const heartbeats = createHeartbeats(intervalMs);
  let drains = 0;
  const onDrain = (): void => {
    drains += 1;
  };
  const stream = openEventStream(response, { access, headers, heartbeats, onDrain });
  closers.push(async () => {
    heartbeats.close();
    client.destroy();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return {
    server,
    heartbeats,
    response,
    stream,
    client,
    read: () => read,
    drains: () => drains,
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0)) await close();
});

describe("a stream", () => {
  test("sends its head before the first event", async () => {
    const place = await openPlace({ "x-request-id": "req_1", "content-type": "application/json" });
    await waitUntil("the head", () => place.read().endsWith("\r\n\r\n"));
    const head = place.read().toLowerCase();
    expect(head).toMatch(/^http\/1\.1 200 ok\r\n/);
    expect(head).toContain("\r\nx-request-id: req_1\r\n");
    expect(head.match(/\r\ncontent-type: .*/g)).toEqual(["\r\ncontent-type: text/event-stream; charset=utf-8"]);
    expect(head).toContain("\r\ncache-control: no-cache, no-transform\r\n");
    expect(head).toContain("\r\nx-accel-buffering: no\r\n");
  });

  test("writes events unchanged and ends after the last", async () => {
    const place = await openPlace();
    expect(place.stream.write("data: 世\n\n")).toBe(true);
    place.stream.end("data: [DONE]\n\n");
    await waitUntil("the end", () => place.read().endsWith("\r\n0\r\n\r\n"));
    expect(place.read()).toMatch(/\r\ndata: 世\n\n.*data: \[DONE\]\n\n\r\n0\r\n\r\n$/s);
  });

  test("ends with the reason, once, when its reader loses access, and stops watching at its end", async () => {
    let [cutOff, isWatched] = [(_lastEvents: string): void => {}, true];
    const place = await openPlace({}, (end) => {
      cutOff = end;
      return () => {
        isWatched = false;
      };
    });
    place.stream.write("data: 1\n\n");
    cutOff("data: no more\n\n");
    expect(place.stream.write("data: 2\n\n")).toBe(true);
    place.stream.end("data: 3\n\n");
    await waitUntil("the end", () => place.read().endsWith("data: no more\n\n\r\n0\r\n\r\n") && !isWatched);
    expect(place.read()).not.toMatch(/data: [23]/);
  });

  test("is destroyed when its reader loses access while not reading", async () => {
    let cutOff = (_lastEvents: string): void => {};
    const place = await openPlace({}, (end) => {
      cutOff = end;
      return () => {};
    });
    place.client.pause();
    const much = `data: ${"x".repeat(1_000_000)}\n\n`;
    while (place.stream.write(much));
    cutOff("data: no more\n\n");
    await waitUntil("the cut", () => place.response.destroyed);
  });

  test("on a pipelined connection, waits for the previous stream to end", async () => {
    const place = await openPlace();
    place.client.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    const [, response] = (await once(place.server, "request")) as [unknown, ServerResponse];
    const next = openEventStream(response, {
      access: "admitted",
      headers: {},
      heartbeats: place.heartbeats,
      onDrain() {},
    });
    next.write("data: 3\n\n");
    place.stream.write("data: 1\n\n");
    next.write("data: 4\n\n");
    await new Promise(setImmediate);
    place.stream.end("data: 2\n\n");
    await waitUntil("the first stream's end", () => response.socket !== null);
    next.end("data: 5\n\n");
    await waitUntil("the end", () => place.read().includes("data: 5"));
    expect(
      place
        .read()
        .match(/HTTP|data: \d/g)
        ?.join(" "),
    ).toBe("HTTP data: 1 data: 2 HTTP data: 3 data: 4 data: 5");
  });

  test("reports back-pressure and its end", async () => {
    const place = await openPlace();
    place.client.pause();
    const event = `data: ${"x".repeat(2 ** 16)}\n\n`;
    await waitUntil("the client to be full", () => !place.stream.write(event));
    expect(place.drains()).toBe(0);
    place.client.resume();
    await waitUntil("room", () => place.drains() > 0);
    expect(place.stream.write(beat)).toBe(true);
  });

  test("discards writes to a closed connection", async () => {
    const place = await openPlace();
    place.client.destroy();
    await waitUntil("the client to be gone", () => place.response.destroyed);
    expect(place.stream.write("data: 1\n\n")).toBe(true);
    expect(() => place.stream.end("data: 2\n\n")).not.toThrow();
  });
});

describe("heartbeats", () => {
  const countBeats = (text: string): number => text.split(beat).length - 1;

  test("are sent once per interval while a stream is silent", async () => {
    const place = await openPlace();
    vi.advanceTimersByTime(intervalMs);
    await waitUntil("a sign of life", () => countBeats(place.read()) === 1);
    vi.advanceTimersByTime(3 * intervalMs);
    await waitUntil("signs of life", () => countBeats(place.read()) === 4);
  });

  test("are not sent while a stream writes events", async () => {
    const place = await openPlace();
    for (let count = 0; count < 5; count += 1) {
      place.stream.write("data: 1\n\n");
      vi.advanceTimersByTime(intervalMs / 2);
    }
    place.stream.write("data: last\n\n");
    await waitUntil("what was said", () => place.read().includes("last"));
    expect(countBeats(place.read())).toBe(0);
  });

  test("stop when the stream ends", async () => {
    const place = await openPlace();
    place.stream.end("data: [DONE]\n\n");
    vi.advanceTimersByTime(5 * intervalMs);
    await waitUntil("the end", () => place.read().endsWith("\r\n0\r\n\r\n"));
    expect(countBeats(place.read())).toBe(0);
  });

  test("stop when the client disconnects", async () => {
    const place = await openPlace();
    const write = vi.spyOn(place.response, "write");
    place.client.destroy();
    await waitUntil("the client to be gone", () => place.response.destroyed);
    vi.advanceTimersByTime(5 * intervalMs);
    expect(write).not.toHaveBeenCalled();
  });

  test("go on for the other streams when one ends, wherever it was, and twice", () => {
    const heartbeats = createHeartbeats(intervalMs);
    const beaten: string[] = [];
    const streams = ["first", "second", "third", "last"].map((name) => ({
      ...{ isSilent: false, place: -1 },
      beat: () => void beaten.push(name),
    }));
    for (const stream of streams) heartbeats.add(stream);
    for (const ended of [streams[0], streams[0], streams[2]]) if (ended !== undefined) heartbeats.remove(ended);
    vi.advanceTimersByTime(intervalMs);
    expect(beaten.toSorted()).toEqual(["last", "second"]);
    heartbeats.close();
  });

  test("are not buffered for a client that does not read", async () => {
    const place = await openPlace();
    place.client.pause();
    await waitUntil("the client to be full", () => !place.stream.write(`data: ${"x".repeat(2 ** 16)}\n\n`));
    const waiting = place.response.writableLength;
    vi.advanceTimersByTime(100 * intervalMs);
    expect(place.response.writableLength).toBe(waiting);
  });

  test("stop on close and do not keep the process alive", async () => {
    const place = await openPlace();
    expect(vi.getTimerCount()).toBe(1);
    place.heartbeats.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
