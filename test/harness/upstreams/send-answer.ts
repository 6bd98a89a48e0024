import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import type { Behaviour } from "./behaviour.ts";
import type { AnswerWrite, ComposedAnswer } from "./compose-answer.ts";

/** Callbacks while an answer is sent. */
export type Sending = {
  response: ServerResponse;
  /** Fires when the connection is gone, so that nothing waits for it. */
  signal: AbortSignal;
  onHead(): void;
  onWritten(byteCount: number): void;
  /** Called just before the fake ends the connection itself. */
  onCut(): void;
};

/** Sends the answer with its behaviour. Throws when the client disconnects. */
export async function sendAnswer(answer: ComposedAnswer, behaviour: Behaviour, sending: Sending): Promise<void> {
  const { response, signal, onCut } = sending;
  const { socket } = response;
  const cut = behaviour.cut ?? "none";
  await behaviour.beforeHead?.pass(signal);
  if (behaviour.isReset === true || cut === "before-head") {
    onCut();
    if (behaviour.isReset === true) socket?.resetAndDestroy();
    else socket?.destroy();
    return;
  }
  if (behaviour.rawHttp !== undefined) return sendRawHttp(behaviour.rawHttp, behaviour, sending);
  response.writeHead(answer.status, answer.headers).flushHeaders();
  sending.onHead();
  // The head is sent before anything else happens.
  await turn();
  if (cut === "after-head") return destroy(sending);
  await behaviour.afterHead?.pass(signal);
  if ((await sendBody(answer.writes, behaviour, sending)) === "cut") return;
  if (behaviour.isClosedAfter === true) response.once("finish", () => socket?.end());
  response.end();
}

async function sendBody(
  writes: readonly AnswerWrite[],
  behaviour: Behaviour,
  sending: Sending,
): Promise<"whole" | "cut"> {
  const lastPieceAt = writes.findLastIndex(({ hasPiece }) => hasPiece);
  const cut = typeof behaviour.cut === "object" ? behaviour.cut : { afterPieces: Number.POSITIVE_INFINITY };
  let pieceCount = 0;
  for (const [at, write] of writes.entries()) {
    if (pieceCount === cut.afterPieces && (pieceCount > 0 || write.hasPiece)) {
      if (cut.where === "inside-chunk") await writeHalf(write.bytes, sending);
      await destroy(sending);
      return "cut";
    }
    if (write.hasPiece) await behaviour.beforePiece?.pass(sending.signal);
    if (at === lastPieceAt + 1) await behaviour.beforeEnd?.pass(sending.signal);
    await writeBody(write.bytes, behaviour, sending);
    if (write.hasPiece) pieceCount += 1;
    if (at === lastPieceAt && behaviour.isEndless === true) await repeat(write, behaviour, sending);
  }
  if (lastPieceAt === writes.length - 1) await behaviour.beforeEnd?.pass(sending.signal);
  if (pieceCount < cut.afterPieces) return "whole";
  await destroy(sending);
  return "cut";
}

/** Repeats until the client disconnects, which throws. */
async function repeat({ bytes }: AnswerWrite, behaviour: Behaviour, sending: Sending): Promise<never> {
  for (;;) {
    await behaviour.beforePiece?.pass(sending.signal);
    await writeBody(bytes, behaviour, sending);
  }
}

async function writeBody(bytes: Buffer, behaviour: Behaviour, sending: Sending): Promise<void> {
  const step = behaviour.isSplitAtEveryByte === true ? 1 : Math.max(1, bytes.length);
  for (let at = 0; at < bytes.length; at += step) {
    const part = bytes.subarray(at, at + step);
    await settle((done) => sending.response.write(part, done), sending.signal);
    sending.onWritten(part.length);
  }
}

/** Sends half of the bytes, with the content length of the whole if HTTP needs one. */
async function writeHalf(bytes: Buffer, { response, signal }: Sending): Promise<void> {
  const announced = response.hasHeader("content-length") ? "" : `${bytes.length.toString(16)}\r\n`;
  const half = Buffer.concat([Buffer.from(announced), bytes.subarray(0, Math.ceil(bytes.length / 2))]);
  await settle((done) => response.socket?.write(half, done), signal);
}

async function sendRawHttp(
  chunks: readonly (string | Buffer)[],
  behaviour: Behaviour,
  sending: Sending,
): Promise<void> {
  const { socket } = sending.response;
  sending.onHead();
  for (const chunk of chunks) {
    await behaviour.beforePiece?.pass(sending.signal);
    await settle((done) => socket?.write(chunk, done), sending.signal);
    sending.onWritten(Buffer.byteLength(chunk));
  }
  await behaviour.beforeEnd?.pass(sending.signal);
  sending.onCut();
  socket?.end();
}

/** Everything written before has been sent by now: nothing of it is lost. */
async function destroy({ response, onCut }: Sending): Promise<void> {
  onCut();
  response.socket?.end();
  response.socket?.destroySoon();
}

/**
 * Waits until the kernel has accepted the bytes, which it does only as fast as the client reads; then yields to the
 * event loop, so that the reader runs.
 */
async function settle(write: (done: (error?: Error | null) => void) => void, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = (): void => reject(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    write((error) => (error ? reject(error) : resolve()));
    await promise;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
  await turn();
}
