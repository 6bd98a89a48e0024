import type { ByteAllowance } from "../../lib/byte-allowance.ts";

type ExcerptLimits = {
  /** How much of a body is kept. */
  bytesMax: number;
  /** A word that is longer is an encoded file: only its beginning is kept. */
  wordBytesMax: number;
  wordBytesShown: number;
};

const firstBytes = 4096;

/** The letters of base64, in both of its alphabets. */
const isWordByte = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9+/=_-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/**
 * The beginning of a body, gathered while it passes. Files that are encoded within it are left out, so that they do not take
 * the place of what can be read.
 */
export class BodyExcerpt {
  /** How long the whole body is. */
  bytes = 0;
  /** There was more than is kept. */
  isCut = false;
  /** How much of long words was left out. */
  leftOutBytes = 0;
  private readonly limits: ExcerptLimits;
  private readonly allowance: ByteAllowance;
  private kept = Buffer.alloc(0);
  private keptBytes = 0;
  private wordBytes = 0;
  private state: "open" | "lost" | "released" = "open";

  constructor(limits: ExcerptLimits, allowance: ByteAllowance) {
    this.limits = limits;
    this.allowance = allowance;
  }

  /** There was no memory left for it. */
  get isLost(): boolean {
    return this.state === "lost";
  }

  /** How much memory it takes. */
  get heldBytes(): number {
    return this.kept.length;
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.isCut || this.state !== "open" || !this.makeRoom(chunk.length)) return;
    const { wordBytesMax } = this.limits;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      if (isWordByte[byte] === 1) {
        this.wordBytes += 1;
        if (this.wordBytes > wordBytesMax) {
          if (this.wordBytes === wordBytesMax + 1) this.keptBytes -= wordBytesMax - this.limits.wordBytesShown;
          continue;
        }
      } else if (this.wordBytes > 0) this.endWord();
      if (this.keptBytes >= this.limits.bytesMax) {
        this.isCut = true;
        return;
      }
      this.kept[this.keptBytes] = byte;
      this.keptBytes += 1;
    }
  }

  /** What is kept of it. */
  read(): Buffer {
    this.endWord();
    return this.kept.subarray(0, this.keptBytes);
  }

  /** Gives the memory back. */
  release(): void {
    this.allowance.give(this.kept.length);
    this.kept = Buffer.alloc(0);
    this.keptBytes = 0;
    if (this.state === "open") this.state = "released";
  }

  private endWord(): void {
    const leftOut = this.wordBytes - this.limits.wordBytesShown;
    if (this.wordBytes > this.limits.wordBytesMax) {
      // The word took more room than this.
      this.keptBytes += this.kept.write(`…[${leftOut} characters left out]`, this.keptBytes);
      this.leftOutBytes += leftOut;
    }
    this.wordBytes = 0;
  }

  private makeRoom(bytes: number): boolean {
    const needed = Math.min(this.keptBytes + bytes, this.limits.bytesMax);
    if (needed <= this.kept.length) return true;
    const size = Math.min(Math.max(needed, this.kept.length * 2, firstBytes), this.limits.bytesMax);
    if (!this.allowance.take(size - this.kept.length)) {
      this.release();
      this.state = "lost";
      return false;
    }
    const larger = Buffer.alloc(size);
    this.kept.copy(larger, 0, 0, this.keptBytes);
    this.kept = larger;
    return true;
  }
}
