import { connect } from "node:net";

export type RawAnswer = { status: number; headers: Record<string, string>; body: string };

/** Writes these pieces to a socket unchanged and reads until the server ends the connection. */
export async function sendRaw(port: number, ...pieces: readonly (string | Buffer)[]): Promise<RawAnswer> {
  const socket = connect(port, "127.0.0.1");
  // A server that refuses may end the connection while we still write; only its answer counts.
  socket.on("error", () => {});
  for (const piece of pieces) socket.write(piece);
  const received: Buffer[] = [];
  socket.on("data", (data) => received.push(Buffer.from(data)));
  await new Promise((closed) => socket.once("close", closed));
  return parseAnswer(Buffer.concat(received).toString("utf8"));
}

function parseAnswer(text: string): RawAnswer {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => [line.split(":", 1)[0]?.toLowerCase() ?? "", line.replace(/^[^:]*:\s*/, "")]);
  return {
    status: Number(statusLine.split(" ")[1]),
    headers: Object.fromEntries(headers),
    body: rest.join("\r\n\r\n"),
  };
}
