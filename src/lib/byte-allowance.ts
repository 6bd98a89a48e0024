/** Memory that many share: each takes what it needs and gives it back. */
export type ByteAllowance = {
  /** Whether there was as much left; then it is taken. */
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
