import type { FastifyReply, FastifyRequest } from "fastify";
import { noteUnreadBody } from "./request-context.ts";

/**
 * What is left of a body that nobody reads any more is drained within these, so that the answer is not lost to a client
 * that is still sending, and the connection can be used again. As much as the largest JSON body.
 */
const drainBytesMax = 32 * 1024 * 1024;
const drainMsMax = 10_000;

/**
 * Called when an answer is about to be sent. Where a request is answered before its body has come whole, the rest of it is
 * drained; where that is known to be too much, the answer says that the connection ends with it.
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
  // Ends the connection, too.
  const cut = (): void => void raw.destroy();
  const timer = setTimeout(cut, drainMsMax).unref();
  noteUnreadBody(socket, true);
  raw.once("close", () => {
    clearTimeout(timer);
    noteUnreadBody(socket, false);
  });
  // Whoever read it may have stopped in the middle, and would hold up whatever comes next on the connection.
  raw.unpipe();
  raw.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > drainBytesMax) cut();
  });
  raw.resume();
}
