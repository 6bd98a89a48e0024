/** The answer to one request, and the time of its first data, in milliseconds of `performance.now()`. */
export type LoadAnswer = {
  status: number;
  isStream: boolean;
  firstDataAtMs: number | null;
  isDone: boolean;
  /** Whether the connection ends with it. */
  isLast: boolean;
};

/** Parses the answers of one connection, one after another, only as far as finding their ends requires. */
export type AnswerReader = {
  /** Returns the answer that ends with these bytes, or `null` while it is incomplete. Throws on invalid HTTP. */
  read(bytes: Buffer): LoadAnswer | null;
  /** The current, incomplete answer. */
  current(): LoadAnswer;
};

type Place = "head" | "body" | "chunk-size" | "chunk" | "chunk-end" | "last-line" | "end";

const headEnd = Buffer.from("\r\n\r\n");
const headBytesMax = 64 * 1024;
const sizeBytesMax = 16;
/** The end markers of each wire format's streams; everything after them is ignored. */
const doneTexts = ["data: [DONE]\n\n", "event: message_stop\n", "event: response.completed\n"];
const doneCharactersMax = Math.max(...doneTexts.map((text) => text.length));
const lineFeed = 0x0a;
const colon = 0x3a;

export function createAnswerReader(): AnswerReader {
  let place: Place = "head";
  let answer = createAnswer();
  let head: Buffer = Buffer.alloc(0);
  let size = "";
  /** Remaining bytes of the body or of its chunk. */
  let left = 0;
  /** The last bytes of a stream, as many as the longest end marker. */
  let tail = "";
  let isDone = false;

  /** Each step begins at a byte and returns where the next one begins. */
  const steps: Record<Place, (bytes: Buffer, at: number) => number> = {
    head: readHead,
    body: readBody,
    "chunk-size": readSize,
    chunk: readBody,
    "chunk-end": (bytes, at) => readLine(bytes, at, "chunk-size"),
    "last-line": (bytes, at) => readLine(bytes, at, "end"),
    end: () => {
      throw new Error("More came than the answer.");
    },
  };

  function readHead(bytes: Buffer, at: number): number {
    const before = head.length;
    head = Buffer.concat([head, bytes.subarray(at)]);
    const endAt = head.indexOf(headEnd);
    if (endAt === -1) {
      if (head.length > headBytesMax) throw new Error("The head of an answer does not end.");
      return bytes.length;
    }
    const text = head.toString("latin1", 0, endAt).toLowerCase();
    const length = /\r\ncontent-length: *(\d+)/.exec(text)?.[1];
    const isChunked = /\r\ntransfer-encoding: *chunked/.test(text);
    if (length === undefined && !isChunked) throw new Error(`An answer does not say where it ends: ${text}`);
    answer.status = Number(/^http\/1\.1 (\d{3})/.exec(text)?.[1]);
    answer.isStream = /\r\ncontent-type: *text\/event-stream/.test(text);
    answer.isLast = /\r\nconnection: *close/.test(text);
    left = Number(length ?? 0);
    place = isChunked ? "chunk-size" : left > 0 ? "body" : "end";
    head = head.subarray(0, 0);
    return at + endAt + headEnd.length - before;
  }

  function readBody(bytes: Buffer, at: number): number {
    const endAt = Math.min(bytes.length, at + left);
    // A comment of a stream is not data.
    if (answer.firstDataAtMs === null && bytes[at] !== colon) answer.firstDataAtMs = performance.now();
    if (answer.isStream) {
      const seen = tail + bytes.toString("latin1", at, endAt);
      isDone ||= doneTexts.some((text) => seen.includes(text));
      tail = seen.slice(-doneCharactersMax);
    }
    left -= endAt - at;
    if (left === 0) place = place === "chunk" ? "chunk-end" : "end";
    return endAt;
  }

  function readSize(bytes: Buffer, at: number): number {
    const endAt = bytes.indexOf(lineFeed, at);
    size += bytes.toString("latin1", at, endAt === -1 ? bytes.length : endAt);
    if (size.length > sizeBytesMax) throw new Error("The size of a chunk is too long.");
    if (endAt === -1) return bytes.length;
    left = Number.parseInt(size, 16);
    if (Number.isNaN(left)) throw new Error(`This is not the size of a chunk: ${size}`);
    size = "";
    place = left === 0 ? "last-line" : "chunk";
    return endAt + 1;
  }

  function readLine(bytes: Buffer, at: number, next: Place): number {
    const endAt = bytes.indexOf(lineFeed, at);
    if (endAt === -1) return bytes.length;
    place = next;
    return endAt + 1;
  }

  return {
    read(bytes) {
      for (let at = 0; at < bytes.length; ) at = steps[place](bytes, at);
      if (place !== "end") return null;
      const ended = { ...answer, isDone };
      place = "head";
      tail = "";
      isDone = false;
      answer = createAnswer();
      return ended;
    },
    current: () => answer,
  };
}

function createAnswer(): LoadAnswer {
  return { status: 0, isStream: false, firstDataAtMs: null, isDone: false, isLast: false };
}
