export type ByteCollector = {
  /** `false` if the limit would be exceeded; the part is then dropped. */
  add(part: Buffer): boolean;
  /** Returns all bytes and resets. */
  take(): Buffer;
  isEmpty(): boolean;
};

const nothing = Buffer.alloc(0);

/** Joins bytes that arrive in parts. The buffer doubles, so that many tiny parts cost no more than their bytes. */
export function createByteCollector(bytesMax: number): ByteCollector {
  let room: Buffer = nothing;
  let length = 0;
  return {
    add(part) {
      const needed = length + part.length;
      if (needed > bytesMax) return false;
      if (length === 0) {
        // Most responses arrive in one part, which is used without a copy. It is full, so it is never written to.
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
