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
export type Rest = "drained" | "cut-off";

/** Reads the bytes of an answer into an outlet. */
export type AnswerReader = {
  add(chunk: Buffer): void;
  /** The upstream has ended its answer properly. */
  end(): void;
  /** The connection broke. */
  fail(error: ProviderError): void;
};

/** Knows what is said in place of an answer. */
export type ErrorReader = { readError(body: unknown): ProviderError };

export type OutletOwner = {
  sink: ChatSink;
  onOver(rest: Rest): void;
};

/** Keeps the order that a sink is promised. Pieces that arrive in one read leave together. */
export function createOutlet(owner: OutletOwner): Outlet {
  return new SinkOutlet(owner);
}

/** A class, because there is one for each call. */
class SinkOutlet implements Outlet {
  private readonly owner: OutletOwner;
  private isUnended = true;
  private pieces: ChatPiece[] | null = null;
  /** Made for the first pieces: a whole answer has none. */
  private flushLater: (() => void) | null = null;

  constructor(owner: OutletOwner) {
    this.owner = owner;
  }

  isOpen(): boolean {
    return this.isUnended;
  }

  push(piece: ChatPiece): void {
    if (!this.isUnended) return;
    if (this.pieces !== null) {
      this.pieces.push(piece);
      return;
    }
    this.pieces = [piece];
    this.flushLater ??= () => this.flush();
    // A read of the socket is over when the microtasks run, however many chunks of HTTP were in it.
    queueMicrotask(this.flushLater);
  }

  end(usage: ChatUsage | null, rest: Rest = "drained"): void {
    if (!this.close()) return;
    this.owner.onOver(rest);
    this.owner.sink.onEnd(usage);
  }

  answer(answer: ChatAnswer, rest: Rest = "drained"): void {
    if (!this.close()) return;
    this.owner.onOver(rest);
    this.owner.sink.onAnswer(answer);
  }

  fail(error: ProviderError): void {
    if (!this.close()) return;
    this.owner.onOver("cut-off");
    this.owner.sink.onError(error);
  }

  shut(): void {
    this.isUnended = false;
  }

  private flush(): void {
    if (!this.isUnended || this.pieces === null) return;
    const together = this.pieces;
    this.pieces = null;
    this.owner.sink.onPieces(together);
  }

  /** Hands on what waits, on which the sink may decide that it has heard enough. */
  private close(): boolean {
    this.flush();
    const wasOpen = this.isUnended;
    this.isUnended = false;
    return wasOpen;
  }
}

export function createBadAnswer(message: string, detail?: Record<string, unknown>): ProviderError {
  return new ProviderError("bad-answer", message, detail === undefined ? {} : { detail });
}
