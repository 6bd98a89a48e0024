export type ByteCollector = {
  /** `false` when there would be more than the limit; the part is then left out. */
  add(part: Buffer): boolean;
  /** All that was added, and begins anew. */
  take(): Buffer;
  isEmpty(): boolean;
};

const nothing = Buffer.alloc(0);

/** Joins bytes that arrive in parts. Room that doubles keeps a flood of tiny parts from costing more than their bytes. */
export function createByteCollector(bytesMax: number): ByteCollector {
  let room: Buffer = nothing;
  let length = 0;
  return {
    add(part) {
      const needed = length + part.length;
      if (needed > bytesMax) return false;
      if (length === 0) {
        // Most answers come in one part, which need not be copied. Being full, it is never written to either.
        room = part;
      } else {
        if (needed > room.length) {
          const larger = Buffer.allocUnsafe(Math.max(needed, 2 * room.length));
          room.copy(larger, 0, 0, length);
          room = larger;
        }
        part.copy(room, length);
      }
      length = needed;
      return true;
    },
    take() {
      const all = room.subarray(0, length);
      room = nothing;
      length = 0;
      return all;
    },
    isEmpty: () => length === 0,
  };
}
