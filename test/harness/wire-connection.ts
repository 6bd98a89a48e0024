import { connect } from "node:net";

/** Longer than any answer takes. */
const patienceMs = 120_000;

/** One answer, parsed by its framing. */
export type WireAnswer = { status: number; version: string; headers: Record<string, string>; body: string };

/** One connection that sends requests unchanged and parses answers by their framing alone. */
export type WireConnection = {
  write(bytes: string | Buffer): void;
  /** The next answer, to a request of this method. Throws on invalid data, or data after the last answer. */
  read(method: string): Promise<WireAnswer>;
  /** Resolves when the head of the next answer has arrived. */
  begun(): Promise<void>;
  /** Received data that belongs to no answer. */
  rest(): string;
  /** Resolves when the server has ended the connection. */
  closed(): Promise<void>;
  hangUp(): void;
};

/** A request with default headers; a body is sent as JSON. */
export function writeRequest(
  line: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string | Buffer } = {},
): Buffer {
  const all = {
    host: "gateway",
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${line}\r\n${lines.join("")}\r\n`), Buffer.from(body ?? "")]);
}

/** To a local port, or to a socket path. */
export async function openWire(place: number | string): Promise<WireConnection> {
  const socket = typeof place === "number" ? connect(place, "127.0.0.1") : connect(place);
  let received = Buffer.alloc(0);
  let isClosed = false;
  let notice = (): void => {};
  // Tests detect a broken connection by the missing data.
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
    notice();
  });
  socket.on("data", (data: Buffer) => {
    received = Buffer.concat([received, data]);
    notice();
  });
  await new Promise<void>((connected) => socket.once("connect", connected));

  /** Checks again after each read. */
  async function until<T>(what: string, look: () => T | null): Promise<T> {
    const signal = AbortSignal.timeout(patienceMs);
    for (;;) {
      const found = look();
      if (found !== null) return found;
      await new Promise<void>((resolve, reject) => {
        notice = resolve;
        signal.addEventListener("abort", () => reject(new Error(`${what} did not come. There is: ${quote(received)}`)));
      });
    }
  }

  return {
    write: (bytes) => void socket.write(bytes),
    async read(method) {
      const answer = await until(`The answer to ${method}`, () => {
        const found = cutAnswer(received, { method, isClosed });
        if (found === null && isClosed) throw new Error(`The connection ended in: ${quote(received)}`);
        return found;
      });
      received = received.subarray(answer.bytes);
      return answer;
    },
    begun: async () => void (await until("The head", () => (received.includes("\r\n\r\n") || isClosed ? true : null))),
    closed: async () => void (await until("The end", () => (isClosed ? true : null))),
    rest: () => received.toString("latin1"),
    hangUp: () => socket.destroy(),
  };
}

/** `null` while it is incomplete. */
function cutAnswer(
  bytes: Buffer,
  { method, isClosed }: { method: string; isClosed: boolean },
): (WireAnswer & { bytes: number }) | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const [, version = "", status = ""] = /^HTTP\/(1\.[01]) (\d{3}) /.exec(statusLine) ?? [];
  if (version === "") throw new Error(`No answer begins with: ${quote(bytes)}`);
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(":", 1)[0]?.toLowerCase() ?? "", line.replace(/^[^:]*:\s*/, "")]),
  );
  const after = bytes.subarray(headEnd + 4);
  const body = cutBody(after, {
    isBodyless: method === "HEAD" || status === "304" || status === "204",
    headers,
    isClosed,
  });
  if (body === null) return null;
  return { status: Number(status), version, headers, body: body.text, bytes: headEnd + 4 + body.bytes };
}

function cutBody(
  bytes: Buffer,
  { isBodyless, headers, isClosed }: { isBodyless: boolean; headers: Record<string, string>; isClosed: boolean },
): { text: string; bytes: number } | null {
  if (isBodyless) return { text: "", bytes: 0 };
  if (headers["transfer-encoding"] === "chunked") return cutChunks(bytes);
  const length = headers["content-length"];
  if (length === undefined) return isClosed ? { text: bytes.toString("latin1"), bytes: bytes.length } : null;
  if (bytes.length < Number(length)) return null;
  return { text: bytes.subarray(0, Number(length)).toString("latin1"), bytes: Number(length) };
}

function cutChunks(bytes: Buffer): { text: string; bytes: number } | null {
  let text = "";
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const line = bytes.subarray(at, lineEnd).toString("latin1");
    if (!/^[0-9a-f]+$/i.test(line)) throw new Error(`No chunk begins with: ${quote(bytes.subarray(at))}`);
    const end = lineEnd + 2 + Number.parseInt(line, 16);
    if (bytes.length < end + 2) return null;
    if (bytes.subarray(end, end + 2).toString("latin1") !== "\r\n") throw new Error("A chunk is longer than it says.");
    text += bytes.subarray(lineEnd + 2, end).toString("latin1");
    at = end + 2;
    if (line === "0") return { text, bytes: at };
  }
}

function quote(bytes: Buffer): string {
  return JSON.stringify(bytes.subarray(0, 200).toString("latin1"));
}
