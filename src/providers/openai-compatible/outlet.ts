import { type ChatAnswer, type ChatPiece, type ChatSink, type ChatUsage, ProviderError } from "../contract.ts";

/** Where an answer goes while it is read. After the first of its three ends it takes nothing more. */
export type Outlet = {
  isOpen(): boolean;
  push(piece: ChatPiece): void;
  end(usage: ChatUsage | null, rest?: Rest): void;
  answer(answer: ChatAnswer, rest?: Rest): void;
  fail(error: ProviderError): void;
  /** The caller does not want to hear more. */
  shut(): void;
};

/** What becomes of what the upstream may still send: it is waited for a little, or its connection is closed. */
type Rest = "drained" | "cut-off";

/** Reads the bytes of an answer into an outlet. */
export type AnswerReader = {
  add(chunk: Buffer): void;
  /** The upstream has ended its answer properly. */
  end(): void;
  /** The connection broke. */
  fail(error: ProviderError): void;
};

type OutletParts = {
  sink: ChatSink;
  onOver(rest: Rest): void;
};

/** Keeps the order that a sink is promised. Pieces that arrive in one read leave together. */
export function createOutlet({ sink, onOver }: OutletParts): Outlet {
  let isOpen = true;
  let pieces: ChatPiece[] | null = null;

  function flush(): void {
    if (!isOpen || pieces === null) return;
    const together = pieces;
    pieces = null;
    sink.onPieces(together);
  }

  /** Hands on what waits, on which the sink may decide that it has heard enough. */
  function close(): boolean {
    flush();
    const wasOpen = isOpen;
    isOpen = false;
    return wasOpen;
  }

  return {
    isOpen: () => isOpen,
    push(piece) {
      if (!isOpen) return;
      if (pieces !== null) {
        pieces.push(piece);
        return;
      }
      pieces = [piece];
      // A read of the socket is over when the microtasks run, however many chunks of HTTP were in it.
      queueMicrotask(flush);
    },
    end(usage, rest = "drained") {
      if (!close()) return;
      onOver(rest);
      sink.onEnd(usage);
    },
    answer(answer, rest = "drained") {
      if (!close()) return;
      onOver(rest);
      sink.onAnswer(answer);
    },
    fail(error) {
      if (!close()) return;
      onOver("cut-off");
      sink.onError(error);
    },
    shut() {
      isOpen = false;
    },
  };
}

export function createBadAnswer(message: string, detail?: Record<string, unknown>): ProviderError {
  return new ProviderError("bad-answer", message, detail === undefined ? {} : { detail });
}
