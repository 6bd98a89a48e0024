// The upstream of the bench, in a separate process: answers every chat call with the same bytes, as cheaply as
// possible, so that the bench measures the gateway. It parses no JSON and supports just enough HTTP for well-behaved
// clients. Set the answer by the arguments of the process (`--delay-ms=20 --chunks=spaced --spacing-ms=5`) or, for one
// call, by the headers `x-bench-delay` and `x-bench-chunks`.
import { type AddressInfo, createServer, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { type ChunkWay, chunkWays, type FixedStream } from "./fixed-answers.ts";
import { type FixedWireAnswer, findWireAnswer } from "./fixed-wire-answers.ts";
import { serveOnRequest } from "./serve-on-request.ts";

const { values } = parseArgs({
  options: {
    "delay-ms": { type: "string", default: "0" },
    chunks: { type: "string", default: "one-write" },
    "spacing-ms": { type: "string", default: "10" },
  },
});
const delayMsDefault = Number(values["delay-ms"]);
const chunksDefault = parseChunkWay(values.chunks);
const spacingMs = Number(values["spacing-ms"]);

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");
const streamWish = Buffer.from('"stream":true');
const requestBytesMax = 64 * 1024 * 1024;
const nothing = Buffer.alloc(0);

const sockets = new Set<Socket>();
const server = createServer({ noDelay: true }, (socket) => {
  let unread: Buffer = nothing;
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
  // Benches disconnect clients on purpose.
  socket.on("error", () => socket.destroy());
  socket.on("data", (data: Buffer) => {
    // The next request arrives only after this one was answered, so the buffer contains nothing else.
    unread = unread.length === 0 ? data : Buffer.concat([unread, data]);
    const headBytes = unread.indexOf(headEnd);
    const head = headBytes === -1 ? null : unread.toString("latin1", 0, headBytes).toLowerCase();
    if (head !== null && isWhole(unread, head)) {
      startAnswer(socket, unread, head);
      unread = nothing;
    } else if (unread.length > requestBytesMax) socket.destroy();
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  serveOnRequest({ port: (server.address() as AddressInfo).port, key: "", close: closeAll });
});

// A bench that dies leaves nothing behind.
process.once("disconnect", () => process.exit());

function isWhole(request: Buffer, head: string): boolean {
  const bodyAt = head.length + headEnd.length;
  const length = readHeader(head, "content-length");
  if (length !== null) return request.length >= bodyAt + Number(length);
  const isChunked = readHeader(head, "transfer-encoding") !== null;
  return !isChunked || request.subarray(bodyAt).subarray(-lastChunk.length).equals(lastChunk);
}

function startAnswer(socket: Socket, request: Buffer, head: string): void {
  const delay = readHeader(head, "x-bench-delay");
  const delayMs = delay === null ? delayMsDefault : Number(delay);
  const isStreamed = request.includes(streamWish, head.length);
  const way = isStreamed ? parseChunkWay(readHeader(head, "x-bench-chunks") ?? chunksDefault) : null;
  const fixed = findWireAnswer(head);
  if (delayMs > 0) setTimeout(answer, delayMs, socket, fixed, way);
  else answer(socket, fixed, way);
}

function answer(socket: Socket, { whole, stream }: FixedWireAnswer, way: ChunkWay | null): void {
  if (way === null) socket.write(whole);
  else if (way === "one-write") socket.write(stream.all);
  else if (way === "idle") socket.write(stream.parts[0] ?? nothing);
  else writeParts(socket, stream, way, 0);
}

function writeParts(socket: Socket, stream: FixedStream, way: "each-turn" | "spaced", at: number): void {
  const part = stream.parts[at];
  if (part === undefined || socket.destroyed) return;
  socket.write(part);
  if (way === "spaced") setTimeout(writeParts, spacingMs, socket, stream, way, at + 1);
  else setImmediate(writeParts, socket, stream, way, at + 1);
}

function readHeader(head: string, name: string): string | null {
  const nameAt = head.indexOf(`\r\n${name}:`);
  if (nameAt === -1) return null;
  const valueAt = nameAt + name.length + 3;
  const endAt = head.indexOf("\r\n", valueAt);
  return head.slice(valueAt, endAt === -1 ? undefined : endAt).trim();
}

function parseChunkWay(text: string): ChunkWay {
  const way = chunkWays.find((candidate) => candidate === text);
  if (way === undefined) throw new Error(`There is no way of writing chunks called ${text}.`);
  return way;
}

async function closeAll(): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await new Promise((closed) => server.close(closed));
}
