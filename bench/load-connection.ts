import { once } from "node:events";
import { connect } from "node:net";
import { createAnswerReader, type LoadAnswer } from "./answer-reader.ts";

/** One kept-alive connection with one request at a time. */
export type LoadConnection = {
  /** Sends a serialized request and waits for the end of its answer. Rejects when the connection breaks. */
  ask(request: Buffer): Promise<LoadAnswer>;
  /** Sends a request and waits only for the first data of its answer. */
  begin(request: Buffer): Promise<void>;
  close(): void;
};

const waitsMsMax = 60_000;

/** As little overhead as possible, so that the bench measures the server: no agent, no header objects, no strings. */
export async function openLoadConnection(port: number): Promise<LoadConnection> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  const reader = createAnswerReader();
  let waiting: { settle(answer: LoadAnswer): void; reject(error: Error): void } | null = null;
  let isBeginningEnough = false;

  function fail(error: Error): void {
    waiting?.reject(error);
    waiting = null;
    socket.destroy();
  }

  function answerWith(answer: LoadAnswer): void {
    waiting?.settle(answer);
    waiting = null;
  }

  socket.on("data", (bytes: Buffer) => {
    try {
      const answer = reader.read(bytes);
      if (answer !== null) answerWith(answer);
      else if (isBeginningEnough && reader.current().firstDataAtMs !== null) answerWith(reader.current());
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
    }
  });
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("The connection was closed before the answer was whole.")));
  socket.setTimeout(waitsMsMax, () => {
    if (waiting !== null && !isBeginningEnough) fail(new Error("No answer came."));
  });

  function send(request: Buffer): Promise<LoadAnswer> {
    if (socket.destroyed) return Promise.reject(new Error("The connection is closed."));
    return new Promise((settle, reject) => {
      waiting = { settle, reject };
      socket.write(request);
    });
  }

  return {
    ask: send,
    async begin(request) {
      isBeginningEnough = true;
      const { status } = await send(request);
      if (status !== 200) throw new Error(`A stream was answered with ${status}.`);
    },
    close: () => void socket.destroy(),
  };
}

/** Throws unless the answer is complete and of the requested kind. */
export function requireWhole(answer: LoadAnswer, isStream: boolean): void {
  if (answer.status !== 200) throw new Error(`A call was answered with ${answer.status}.`);
  if (answer.isStream !== isStream) throw new Error("A call was answered in another form than asked for.");
  if (isStream && !answer.isDone) throw new Error("A stream ended without [DONE], or what its wire has for that.");
}
