import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** Bytes that are written unchanged, or an action on the connection. */
export type RawStep = string | Buffer | ((socket: Socket) => unknown);

export type RawUpstream = AsyncDisposable & {
  origin: string;
  /** Each complete request. */
  requests: { head: string; body: string }[];
  /** How many connections were ever opened, and how many are open. */
  connections: { made: number; open: number };
  /** Scripts the next request's answer; without one it waits forever. */
  answer(...steps: readonly RawStep[]): void;
};

/** A server that writes exactly the bytes of a test, also invalid HTTP. */
export async function startRawUpstream(): Promise<RawUpstream> {
  const answers: (readonly RawStep[])[] = [];
  const requests: RawUpstream["requests"] = [];
  const connections = { made: 0, open: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let received = "";
    sockets.add(socket);
    connections.made += 1;
    connections.open += 1;
    // Tests observe the connection from the client's side.
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      connections.open -= 1;
    });
    socket.on("data", (data) => {
      received += data.toString("latin1");
      const [head = "", ...rest] = received.split("\r\n\r\n");
      const body = rest.join("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? "0");
      if (rest.length === 0 || body.length < length) return;
      received = body.slice(length);
      requests.push({ head, body: Buffer.from(body.slice(0, length), "latin1").toString("utf8") });
      void play(socket, answers.shift() ?? []);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections,
    answer: (...steps) => answers.push(steps),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function play(socket: Socket, steps: readonly RawStep[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === "function") await step(socket);
    else socket.write(step);
  }
}

export const endConnection: RawStep = (socket) => socket.end();
export const resetConnection: RawStep = (socket) => socket.resetAndDestroy();

/** A head with the given status line and headers. */
export function rawHead(status: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`;
}

/** A whole answer in JSON. */
export function rawJson(body: unknown, status = "200 OK", headers: Record<string, string> = {}): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  return rawHead(status, { "content-type": "application/json", "content-length": length, ...headers }) + text;
}

export const rawStreamHead = rawHead("200 OK", {
  "content-type": "text/event-stream; charset=utf-8",
  "transfer-encoding": "chunked",
});

/** A chunk of HTTP's chunked encoding. */
export function rawChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

export const rawLastChunk = "0\r\n\r\n";
