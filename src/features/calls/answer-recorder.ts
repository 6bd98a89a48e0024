import { keptBytesMax } from "../idempotency/index.ts";

/** Records a streamed response for replay, up to `keptBytesMax`. */
export type Recorder = {
  add(data: string | Uint8Array): void;
  /** The recorded response with its tail; `null` if it is too large. */
  join(last: string | Uint8Array): Buffer | null;
  /** A lower bound of the recorded size. */
  countBytes(): number;
};

export function createRecorder(): Recorder {
  let recorded: (string | Uint8Array)[] | null = [];
  let length = 0;
  return {
    add(data) {
      // A string has at least as many bytes as UTF-16 units.
      length += data.length;
      if (length > keptBytesMax) recorded = null;
      else recorded?.push(data);
    },
    join(last) {
      if (recorded === null) return null;
      const bytes = Buffer.concat(
        [...recorded, last].map((data) => (typeof data === "string" ? Buffer.from(data) : data)),
      );
      return bytes.length > keptBytesMax ? null : bytes;
    },
    countBytes: () => (recorded === null ? 0 : length),
  };
}
