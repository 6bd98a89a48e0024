import type { FastifyReply, FastifyRequest } from "fastify";
import { noteUnreadBody } from "./request-context.ts";

/**
 * Unread bodies are drained within these limits: a client that is still sending receives the response, and the connection
 * can be reused. Larger than the default of json_body_bytes_max.
 */
const drainBytesMax = 32 * 1024 * 1024;
const drainMsMax = 10_000;

/**
 * Called before a response is sent. If the body has not arrived whole, drains the rest, or sends `Connection: close` if it
 * is too large.
 */
export function disposeOfBody(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (raw.complete || raw.readableEnded || (encoding === undefined && !(Number(length) > 0))) return;
  if (Number(length) > drainBytesMax) {
    reply.header("connection", "close");
    return;
  }
  const { socket } = raw;
  let bytes = 0;
  // Destroys the connection too.
  const cut = (): void => void raw.destroy();
  const timer = setTimeout(cut, drainMsMax).unref();
  noteUnreadBody(socket, true);
  raw.once("close", () => {
    clearTimeout(timer);
    noteUnreadBody(socket, false);
  });
  // A reader that stopped midway would block the next request on the connection.
  raw.unpipe();
  raw.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > drainBytesMax) cut();
  });
  raw.resume();
}
