import type { ByteAllowance } from "../../lib/byte-allowance.ts";

type ExcerptLimits = {
  bytesMax: number;
  /** A longer word is an encoded file: only its beginning is stored. */
  wordBytesMax: number;
  wordBytesShown: number;
};

const firstBytes = 4096;

/** The characters of base64 and base64url. */
const isWordByte = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9+/=_-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/**
 * Collects the beginning of a body while it streams through. Base64 files in it are omitted, to leave room for readable
 * text.
 */
export class BodyExcerpt {
  /** The length of the whole body. */
  bytes = 0;
  /** The body was longer than `bytesMax`. */
  isCut = false;
  /** Omitted bytes of long words. */
  omittedBytes = 0;
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

  /** The allowance had no memory left. */
  get isLost(): boolean {
    return this.state === "lost";
  }

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

  read(): Buffer {
    this.endWord();
    return this.kept.subarray(0, this.keptBytes);
  }

  /** Returns the memory to the allowance. */
  release(): void {
    this.allowance.give(this.kept.length);
    this.kept = Buffer.alloc(0);
    this.keptBytes = 0;
    if (this.state === "open") this.state = "released";
  }

  private endWord(): void {
    const omitted = this.wordBytes - this.limits.wordBytesShown;
    if (this.wordBytes > this.limits.wordBytesMax) {
      // Always fits: the word was longer than this note.
      this.keptBytes += this.kept.write(`…[${omitted} characters omitted]`, this.keptBytes);
      this.omittedBytes += omitted;
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
