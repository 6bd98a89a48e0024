import { type ByteCollector, createByteCollector } from "./collect-bytes.ts";

export type EventListener = {
  /** The place of an event's data in `text`, so that it is sliced only if needed. */
  onEvent(text: string, from: number, to: number): void;
  /** Takes events of a form that it knows, which begin at `at`. Returns where they end, or `at`. */
  takeRun?(text: string, at: number): number;
};

export type EventReader = {
  /** Emits every event that this chunk completes. `false` if an event is too large. */
  add(chunk: Buffer): boolean;
  /** Emits an event without its final empty line. */
  end(): void;
};

const eventBytesMax = 4 * 1024 * 1024;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const byteOrderMark = "\uFEFF";

/**
 * Parses server-sent events. Bytes are decoded only up to the end of an event, so that split characters are complete;
 * all complete events are decoded at once, which is cheapest.
 */
export function createEventReader(listener: EventListener): EventReader {
  return new ChunkedEvents(listener);
}

/** A class, to save memory: there is one per stream. */
class ChunkedEvents implements EventReader {
  private readonly listener: EventListener;
  /** Incomplete events. Most streams never split one. */
  private held: ByteCollector | null = null;
  /** The last two buffered bytes: an empty line may start in one chunk and end in the next. */
  private before = noLineEnd;
  private isFirst = true;

  constructor(listener: EventListener) {
    this.listener = listener;
  }

  add(chunk: Buffer): boolean {
    const end = findLastEnd(chunk, this.before);
    if (end > 0 && end === chunk.length && (this.held === null || this.held.isEmpty())) {
      this.tell(chunk);
      return true;
    }
    this.held ??= createByteCollector(eventBytesMax);
    if (end > 0) {
      if (!this.held.add(chunk.subarray(0, end))) return false;
      this.tell(this.held.take());
    }
    const rest = chunk.subarray(end);
    this.before = readEnding(rest, end > 0 ? noLineEnd : this.before);
    return rest.length === 0 || this.held.add(rest);
  }

  end(): void {
    if (this.held !== null && !this.held.isEmpty()) this.tell(this.held.take());
  }

  private tell(bytes: Buffer): void {
    let text = bytes.toString("utf8");
    if (this.isFirst && text.startsWith(byteOrderMark)) text = text.slice(1);
    this.isFirst = false;
    splitEvents(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text, this.listener);
  }
}

type Ending = { last: number; secondLast: number };

/** The state after text: no line end. */
const noLineEnd: Ending = { last: 0, secondLast: 0 };

function readEnding(bytes: Buffer, before: Ending): Ending {
  return {
    last: bytes.at(-1) ?? before.last,
    secondLast: bytes.at(-2) ?? (bytes.length === 1 ? before.last : before.secondLast),
  };
}

/**
 * Where the last empty line of the chunk ends, or 0. Line ends are LF, CRLF or CR. An extra empty line is harmless, so
 * a CR does not wait for its LF.
 */
function findLastEnd(chunk: Buffer, before: Ending): number {
  for (let index = chunk.length - 1; index >= 0; index -= 1) {
    const byte = chunk[index];
    if (byte !== lineFeed && byte !== carriageReturn) continue;
    const previous = byteBefore(chunk, index, before);
    const isPair = byte === lineFeed && previous === carriageReturn;
    const ending = isPair ? byteBefore(chunk, index - 1, before) : previous;
    if (ending === lineFeed || ending === carriageReturn) return index + 1;
  }
  return 0;
}

function byteBefore(chunk: Buffer, index: number, before: Ending): number | undefined {
  if (index > 0) return chunk[index - 1];
  return index === 0 ? before.last : before.secondLast;
}

/** Emits the events of a text with LF line ends. Skips comments and fields other than `data`. */
function splitEvents(text: string, listener: EventListener): void {
  let from = -1;
  let to = -1;
  let joined: string | null = null;
  for (let at = 0; at < text.length; ) {
    if (from < 0 && listener.takeRun !== undefined) at = listener.takeRun(text, at);
    if (at >= text.length) break;
    let lineEnd = text.indexOf("\n", at);
    if (lineEnd < 0) lineEnd = text.length;
    if (text.startsWith("data:", at)) {
      const valueAt = text.charCodeAt(at + 5) === space ? at + 6 : at + 5;
      if (from >= 0) joined = `${joined ?? text.slice(from, to)}\n${text.slice(valueAt, lineEnd)}`;
      from = valueAt;
      to = lineEnd;
    } else if (lineEnd === at && from >= 0) {
      if (joined === null) listener.onEvent(text, from, to);
      else listener.onEvent(joined, 0, joined.length);
      from = -1;
      joined = null;
    }
    at = lineEnd + 1;
  }
  // Only the end of the stream leaves an event without its empty line.
  if (from >= 0) listener.onEvent(joined ?? text, joined === null ? from : 0, joined?.length ?? to);
}
