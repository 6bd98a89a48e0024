// @module-tag extended
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createAnswerReader } from "../../../bench/answer-reader.ts";
import { writeChatRequest } from "../../../bench/chat-requests.ts";
import { fixedStream, fixedWhole } from "../../../bench/fixed-answers.ts";
import { openLoadConnection, requireWhole } from "../../../bench/load-connection.ts";
import { judgeFlatness } from "../../../bench/mixed-load.ts";
import { openLoad } from "../../../bench/run-load.ts";

const chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const request = Buffer.from("POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n");

/** A server that answers each request with the next of these, and repeats the last. */
async function startServer(...answers: ((socket: Socket) => void)[]): Promise<Disposable & { port: number }> {
  let asked = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", () => {
      (answers[asked] ?? answers.at(-1))?.(socket);
      asked += 1;
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() };
}

const send = (bytes: Buffer | string) => (socket: Socket) => void socket.write(bytes);

describe("an answer", () => {
  test.each([
    ["of a known length", fixedWhole, { status: 200, isStream: false, isDone: false }],
    ["in chunks", fixedStream.all, { status: 200, isStream: true, isDone: true }],
  ])(
    "%s ends with its last byte and not before, wherever it is split, and another can follow",
    (_name, bytes, expected) => {
      const reader = createAnswerReader();
      for (let cut = 1; cut < bytes.length; cut += 1) {
        expect(reader.read(bytes.subarray(0, cut))).toBeNull();
        expect(reader.read(bytes.subarray(cut))).toMatchObject(expected);
      }
    },
  );

  test("can be parsed byte by byte", () => {
    const reader = createAnswerReader();
    const ends = [...fixedStream.all].map((byte) => reader.read(Buffer.of(byte)));
    expect(ends.slice(0, -1).every((end) => end === null)).toBe(true);
    expect(ends.at(-1)).toMatchObject({ status: 200, isDone: true });
  });

  test("without data does not end like the one before", () => {
    const reader = createAnswerReader();
    expect(reader.read(fixedStream.all)?.isDone).toBe(true);
    expect(reader.read(Buffer.from(`${chunked}0\r\n\r\n`))?.isDone).toBe(false);
  });

  test("without a body ends with its head", () => {
    expect(createAnswerReader().read(Buffer.from("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"))?.status).toBe(503);
  });

  test("has its first data when something other than a comment arrives", () => {
    const reader = createAnswerReader();
    reader.read(Buffer.from(`${chunked}4\r\n: \n\n\r\n`));
    expect(reader.current().firstDataAtMs).toBeNull();
    const beforeMs = performance.now();
    reader.read(Buffer.from("9\r\ndata: 1\n\n\r\n"));
    expect(reader.current().firstDataAtMs).toBeGreaterThanOrEqual(beforeMs);
  });

  test.each([
    ["does not say where it ends", "HTTP/1.1 200 OK\r\n\r\n"],
    ["has chunks of no size", `${chunked}zz\r\n`],
    ["has a chunk's size without end", `${chunked}${"0".repeat(17)}`],
    ["has a head without end", `HTTP/1.1 200 OK\r\n${"x".repeat(64 * 1024)}`],
    ["is followed by extra bytes", `${fixedWhole.toString()}x`],
  ])("that %s is refused", (_name, bytes) => {
    expect(() => createAnswerReader().read(Buffer.from(bytes))).toThrow();
  });
});

describe("a load", () => {
  test("counts every call and its duration", async () => {
    using server = await startServer(send(fixedStream.all));
    const load = await openLoad({ port: server.port, request, isStream: true, connections: 3 });
    await load.warmUp();
    const figures = await load.run(50);
    load.close();
    expect(figures.requests).toBeGreaterThanOrEqual(3);
    expect(figures.wholeMs).toHaveLength(figures.requests);
    expect(figures.firstDataMs).toHaveLength(figures.requests);
    expect(figures.tookMs).toBeGreaterThanOrEqual(50);
  });

  test.each([
    ["refused", send("HTTP/1.1 429 No\r\ncontent-length: 2\r\n\r\n{}"), "answered with 429"],
    ["answered whole instead of streamed", send(fixedWhole), "in another form"],
    ["ended without [DONE]", send(`${chunked}9\r\ndata: 1\n\n\r\n0\r\n\r\n`), "without [DONE]"],
    [
      "broken off",
      (socket: Socket) => void socket.end(fixedStream.parts[0] ?? ""),
      "closed before the answer was whole",
    ],
    ["answered with something else than HTTP", send("SSH-2.0-x\r\n\r\n"), "does not say where it ends"],
  ])("fails loudly when a stream is %s, with the number of failed calls", async (_name, answer, message) => {
    using server = await startServer(send(fixedStream.all), answer);
    const load = await openLoad({ port: server.port, request, isStream: true, connections: 2 });
    await expect(load.run(60_000)).rejects.toThrow(/^2 of 2 connections failed: .*/);
    load.close();
    const again = await openLoad({ port: server.port, request, isStream: true, connections: 1 });
    await expect(again.warmUp()).rejects.toThrow(message);
    again.close();
  });

  test("of whole answers does not accept a stream", () => {
    const answer = { status: 200, isStream: true, firstDataAtMs: 1, isDone: true, isLast: false };
    expect(() => requireWhole(answer, false)).toThrow("another form");
    expect(() => requireWhole({ ...answer, isStream: false, isDone: false }, false)).not.toThrow();
  });
});

describe("a connection", () => {
  test("that only starts calls resolves at the first data", async () => {
    using server = await startServer(send(fixedStream.parts[0] ?? ""));
    const connection = await openLoadConnection(server.port);
    await connection.begin(request);
    connection.close();
  });

  test("that only starts calls rejects a refusal", async () => {
    using server = await startServer(send("HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\n{}"));
    const connection = await openLoadConnection(server.port);
    await expect(connection.begin(request)).rejects.toThrow("503");
    connection.close();
  });

  test("that is closed accepts nothing more", async () => {
    using server = await startServer(send(fixedWhole));
    const connection = await openLoadConnection(server.port);
    connection.close();
    await expect(connection.ask(request)).rejects.toThrow("closed");
    // By now no more events of the connection can arrive.
    await expect(connection.ask(request)).rejects.toThrow("closed");
  });
});

test("a request has its length in bytes, and the fields that the upstream looks for", () => {
  const ask = { isStream: true, promptBytes: 32 * 1024 };
  const target = { port: 1, model: "m", headers: { authorization: "Bearer k" } };
  const [head = "", body = ""] = writeChatRequest(ask, target).toString().split("\r\n\r\n");
  expect(head).toContain("\r\nauthorization: Bearer k");
  expect(head).toContain(`\r\ncontent-length: ${Buffer.byteLength(body)}`);
  expect(body).toContain('"stream":true');
  expect(JSON.parse(body).messages[1].content).toHaveLength(32 * 1024);
});

describe("memory", () => {
  const megabyte = 1024 * 1024;
  const fill = (...fifths: number[]): number[] => fifths.flatMap((size) => Array(10).fill(size * megabyte));

  test("is flat when it grew only during warm-up", () => {
    expect(judgeFlatness(fill(100, 300, 310, 305, 349)).isFlat).toBe(true);
  });

  test("is not flat when its end is more than a tenth and 20 MB above its second fifth", () => {
    expect(judgeFlatness(fill(100, 300, 310, 330, 351)).isFlat).toBe(false);
  });
});
