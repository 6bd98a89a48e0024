import { keptBytesMax } from "../idempotency/index.ts";

/** Collects what is sent for a later replay, as long as it is little enough to be kept. */
export type Recorder = {
  add(data: string | Uint8Array): void;
  /** Everything so far and what comes last, `null` when it is too much. */
  join(last: string | Uint8Array): Buffer | null;
  /** How much it is so far, at least. */
  countBytes(): number;
};

export function createRecorder(): Recorder {
  let recorded: (string | Uint8Array)[] | null = [];
  let length = 0;
  return {
    add(data) {
      // A text has at least as many bytes as this.
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
