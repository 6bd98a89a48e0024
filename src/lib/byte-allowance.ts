/** A shared memory budget. */
export type ByteAllowance = {
  /** Reserves the bytes and returns true, or returns false if too few are left. */
  take(bytes: number): boolean;
  give(bytes: number): void;
};

export function createByteAllowance(bytesMax: number): ByteAllowance {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) return false;
      taken += bytes;
      return true;
    },
    give(bytes) {
      taken -= bytes;
    },
  };
}
