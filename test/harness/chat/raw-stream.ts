import { connect } from "node:net";
import { findCanary } from "../upstreams/fake-upstreams.ts";
import { waitUntil } from "../wait-until.ts";

/** A client that reads a stream off the socket itself, as fast or as slowly as a test wants. */
type RawStream = {
  bytesRead(): number;
  /** Everything that came so far, with the head and with what HTTP puts around its chunks. */
  text(): string;
  /** The events that came so far. Throws where what came is no stream of events. */
  read(): ReadEvents;
  /** Resolves when this has come. */
  received(text: string): Promise<void>;
  pause(): void;
  resume(): void;
  /** Goes away without a word. */
  hangUp(): void;
  /** Resolves when the other side has ended the answer and the connection. */
  ended(): Promise<ReadEvents>;
};

type Chunk = {
  choices: { delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: { charge: string } | null;
  error?: { code: string };
};

type ReadEvents = {
  chunks: Chunk[];
  /** What the model said. */
  text: string;
  finishReasons: string[];
  /** The code of the error that ended the stream. */
  errorCode: string | null;
  /** Whether the stream ended with its mark, and nothing after it. */
  isDone: boolean;
  comments: number;
};

type RawQuestion = { caller: { key: string }; question: string; key?: string };

/** Texts longer than this are made by us, letter by letter, and would take long to search. */
const searchedBytesMax = 2 ** 20;

/** Sends a question on a connection of its own. Resolves when the connection is made. */
export async function readRawStream(
  { port }: { port: number },
  { caller, question, key }: RawQuestion,
): Promise<RawStream> {
  const socket = connect(port, "127.0.0.1");
  const pieces: Buffer[] = [];
  let bytesRead = 0;
  let hasEnded = false;
  // Whatever ends the connection, a test sees it by what is missing.
  socket.on("error", () => {});
  socket.on("close", () => {
    hasEnded = true;
  });
  socket.on("data", (data: Buffer) => {
    pieces.push(data);
    bytesRead += data.length;
  });
  await new Promise<void>((connected) => socket.once("connect", connected));
  const lines = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: gateway",
    `authorization: Bearer ${caller.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(question)}`,
    ...(key === undefined ? [] : [`idempotency-key: ${key}`]),
    "connection: close",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${question}`);
  const text = (): string => Buffer.concat(pieces).toString("utf8");
  const read = (): ReadEvents => readEvents(joinChunks(Buffer.concat(pieces)));
  return {
    bytesRead: () => bytesRead,
    text,
    read,
    received: async (wanted) => void (await waitUntil(`“${wanted}” to come`, () => text().includes(wanted))),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    hangUp: () => socket.destroy(),
    async ended() {
      await waitUntil("the end of the connection", () => hasEnded);
      const leak = bytesRead > searchedBytesMax ? null : findCanary(text());
      if (leak !== null) throw new Error(`A customer saw something of the upstream: …${leak}…`);
      return read();
    },
  };
}

/** Undoes HTTP's chunked encoding; stops where the bytes end. */
function joinChunks(answer: Buffer): string {
  const bodies: Buffer[] = [];
  let at = answer.indexOf("\r\n\r\n") + 4;
  while (at < answer.length) {
    const sizeEnd = answer.indexOf("\r\n", at);
    const size = Number.parseInt(answer.subarray(at, sizeEnd).toString("latin1"), 16);
    if (sizeEnd < 0 || !(size > 0)) break;
    bodies.push(answer.subarray(sizeEnd + 2, sizeEnd + 2 + size));
    at = sizeEnd + 2 + size + 2;
  }
  return Buffer.concat(bodies).toString("utf8");
}

/** Strictly what we send: each event is one line of data, and each comment is empty. */
function readEvents(body: string): ReadEvents {
  const [unfinished, ...events] = body.split("\n\n").reverse();
  if (unfinished !== "") throw new Error(`An event has no end: ${unfinished?.slice(0, 200)}`);
  const read: ReadEvents = { chunks: [], text: "", finishReasons: [], errorCode: null, isDone: false, comments: 0 };
  for (const event of events.reverse()) {
    if (read.isDone || read.errorCode !== null) throw new Error(`Something comes after the end: ${event}`);
    if (event === ": ") read.comments += 1;
    else if (event === "data: [DONE]") read.isDone = true;
    else if (/^data: \{.*\}$/.test(event)) readChunk(JSON.parse(event.slice("data: ".length)) as Chunk, read);
    else throw new Error(`No event of ours: ${event.slice(0, 200)}`);
  }
  return read;
}

function readChunk(chunk: Chunk, read: ReadEvents): void {
  read.chunks.push(chunk);
  read.errorCode = chunk.error?.code ?? null;
  for (const { delta, finish_reason: reason } of chunk.choices ?? []) {
    if (typeof delta.content === "string") read.text += delta.content;
    if (reason !== null) read.finishReasons.push(reason);
  }
}
