import { once } from "node:events";
import type pg from "pg";

/** Rows are joined into chunks of this size; the socket is paused while more than the maximum is unread. */
const pieceBytes = 64 * 1024;
const waitingBytesMax = 1024 * 1024;

/** The methods that pg calls on a submitted query; its types lack some. */
type CopyQuery = pg.Submittable & {
  handleRowDescription(): void;
  handleDataRow(row: { fields: (string | null)[] }): void;
  handleCommandComplete(message: { text: string }): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
  handleCopyData(message: { chunk: Buffer }): void;
  handleCopyInResponse(connection: CopyConnection): void;
};

type CopyConnection = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
};

const noHandlers: Omit<CopyQuery, "submit" | "handleReadyForQuery" | "handleError"> = {
  handleRowDescription() {},
  handleDataRow() {},
  handleCommandComplete() {},
  handleCopyData() {},
  handleCopyInResponse: (connection) => connection.sendCopyFail("nothing to send"),
};

type CopyOutOptions = {
  /** For result rows before or after the copy. */
  onRow?(fields: readonly (string | null)[]): void;
  /** Which bytes of a message to yield; all by default. */
  pick?(message: Buffer): Buffer | null;
};

/**
 * Runs a `copy … to stdout` and yields its bytes, with back-pressure. A reader that stops before the end destroys the
 * connection.
 */
export async function* copyOut(
  client: pg.Client,
  statement: string,
  { onRow = () => {}, pick = (message) => message }: CopyOutOptions = {},
): AsyncGenerator<Buffer, void, void> {
  const pieces = gatherPieces();
  const copy: { state: "running" | "ended"; error: Error | null } = { state: "running", error: null };
  let wake = Promise.withResolvers<void>();
  const { stream } = client.connection;
  const query: CopyQuery = {
    ...noHandlers,
    submit: (connection) => connection.query(statement),
    handleDataRow: ({ fields }) => onRow(fields),
    handleCopyData({ chunk }) {
      const wanted = pick(chunk);
      if (wanted === null) return;
      pieces.add(wanted);
      if (pieces.bytes() >= waitingBytesMax) stream.pause();
      wake.resolve();
    },
    handleReadyForQuery() {
      copy.state = "ended";
      wake.resolve();
    },
    handleError(error) {
      copy.state = "ended";
      copy.error = error;
      wake.resolve();
    },
  };
  client.query(query);
  try {
    for (;;) {
      await wake.promise;
      wake = Promise.withResolvers<void>();
      const isOver = copy.state === "ended";
      for (let piece = pieces.take(isOver); piece !== null; piece = pieces.take(isOver)) yield piece;
      stream.resume();
      if (copy.error !== null) throw copy.error;
      if (isOver) return;
    }
  } finally {
    if (copy.state === "running") stream.destroy();
  }
}

/** Copies the bytes: pg reuses its buffer for the next message. */
function gatherPieces() {
  const whole: Buffer[] = [];
  let current = Buffer.allocUnsafe(pieceBytes);
  let used = 0;
  return {
    bytes: () => whole.length * pieceBytes + used,
    add(bytes: Buffer): void {
      for (let start = 0; start < bytes.length; ) {
        const copied = bytes.copy(current, used, start);
        start += copied;
        used += copied;
        if (used < pieceBytes) continue;
        whole.push(current);
        current = Buffer.allocUnsafe(pieceBytes);
        used = 0;
      }
    },
    /** The next full chunk, or the rest at the end. */
    take(isOver: boolean): Buffer | null {
      const next = whole.shift();
      if (next !== undefined || !isOver || used === 0) return next ?? null;
      const rest = current.subarray(0, used);
      used = 0;
      return rest;
    },
  };
}

/** Runs a `copy … from stdin` with the source's bytes, and returns the number of rows. */
export async function copyIn(client: pg.Client, statement: string, source: AsyncIterable<Buffer>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let rows = 0;
  let failure: Error | null = null;

  async function send(connection: CopyConnection): Promise<void> {
    try {
      for await (const chunk of source) {
        if (failure !== null) return;
        connection.sendCopyFromChunk(chunk);
        if (connection.stream.writableNeedDrain) await once(connection.stream, "drain");
      }
      if (failure === null) connection.endCopyFrom();
    } catch (error) {
      // Keep the source's error; the server's own error says less.
      failure ??= error instanceof Error ? error : new Error(String(error));
      connection.sendCopyFail("the source failed");
    }
  }

  const query: CopyQuery = {
    ...noHandlers,
    submit: (connection) => connection.query(statement),
    handleCopyInResponse: (connection) => void send(connection),
    handleCommandComplete({ text }) {
      rows = Number(text.split(" ").at(-1));
    },
    handleReadyForQuery: () => (failure === null ? resolve(rows) : reject(failure)),
    handleError(error) {
      failure ??= error;
      reject(failure);
    },
  };
  client.query(query);
  return await promise;
}
