import { type ChatAnswer, type ChatPiece, type ChatSink, type ChatUsage, ProviderError } from "../contract.ts";

/** Receives an answer as it is read. After the first of its three ends it ignores everything. */
export type Outlet = {
  isOpen(): boolean;
  push(piece: ChatPiece): void;
  end(usage: ChatUsage | null, rest?: Rest): void;
  answer(answer: ChatAnswer, rest?: Rest): void;
  fail(error: ProviderError): void;
  /** The caller wants no more. */
  shut(): void;
};

/** What happens to the rest of the response: it is drained for a moment, or the connection is closed. */
export type Rest = "drained" | "cut-off";

/** Parses the bytes of a response into an outlet. */
export type AnswerReader = {
  add(chunk: Buffer): void;
  /** The response has ended properly. */
  end(): void;
  /** The connection broke. */
  fail(error: ProviderError): void;
};

/** Parses an error in place of an answer. */
export type ErrorReader = { readError(body: unknown): ProviderError };

export type OutletOwner = {
  sink: ChatSink;
  onOver(rest: Rest): void;
};

/** Guarantees the order of a sink's events. Pieces of one network read leave together. */
export function createOutlet(owner: OutletOwner): Outlet {
  return new SinkOutlet(owner);
}

/** A class, to save memory: there is one per call. */
class SinkOutlet implements Outlet {
  private readonly owner: OutletOwner;
  private isUnended = true;
  private pieces: ChatPiece[] | null = null;

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
    // A socket read is over by then, however many HTTP chunks it had.
    process.nextTick(flushPiecesOf, this);
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

  flush(): void {
    if (!this.isUnended || this.pieces === null) return;
    const together = this.pieces;
    this.pieces = null;
    this.owner.sink.onPieces(together);
  }

  /** Flushes. The sink may then decide to stop. */
  private close(): boolean {
    this.flush();
    const wasOpen = this.isUnended;
    this.isUnended = false;
    return wasOpen;
  }
}

function flushPiecesOf(outlet: SinkOutlet): void {
  outlet.flush();
}

export function createBadAnswer(message: string, detail?: Record<string, unknown>): ProviderError {
  return new ProviderError("bad-answer", message, detail === undefined ? {} : { detail });
}
