/**
 * The output format of the speech process. Each part of the text has a header of 8 bytes (the bytes of audio that
 * follow; the share of the text after them, in millionths), then its audio.
 */
export function createPartHead(audioBytes: number, shareAfter: number): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(audioBytes, 0);
  head.writeUInt32LE(Math.round(shareAfter * millionths), 4);
  return head;
}

const headBytes = 8;
const millionths = 1_000_000;

/** Extracts the audio, and reports the share of the text after each piece. */
export async function* readSpokenAudio(
  stream: AsyncIterable<Buffer>,
  onSaid: (share: number) => void,
): AsyncGenerator<Buffer> {
  let pending: Buffer = Buffer.alloc(0);
  let part = { bytes: 0, left: 0, from: 0, to: 0 };
  for await (const chunk of stream) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (pending.length > 0) {
      if (part.left === 0) {
        if (pending.length < headBytes) break;
        const bytes = pending.readUInt32LE(0);
        part = { bytes, left: bytes, from: part.to, to: pending.readUInt32LE(4) / millionths };
        pending = pending.subarray(headBytes);
        continue;
      }
      const audio = pending.subarray(0, part.left);
      pending = pending.subarray(audio.length);
      part.left -= audio.length;
      onSaid(part.to - (part.to - part.from) * (part.left / part.bytes));
      yield audio;
    }
  }
  if (part.left > 0 || pending.length > 0) throw new Error("The speech ended within a part.");
}
