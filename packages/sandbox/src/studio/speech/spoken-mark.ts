/**
 * The sandbox's speech contains its text, so that the sandbox's transcription can recover it: an MP3 in a comment, a
 * WAV in the lowest bits of its first samples, which are inaudible. This is not speech recognition, and re-encoding
 * removes it.
 */
const start = "sluice-speech:";
const end = ".";
/** A longer text is not marked. */
const textBytesMax = 64 * 1024;
const lengthBytes = 4;
const bitsPerByte = 8;
const sampleBytes = 2;
const headerBytes = 44;
/** The end of the longest mark of either kind. */
const markedBytesMax = headerBytes + (start.length + lengthBytes + textBytesMax) * bitsPerByte * sampleBytes;

function encodeText(text: string): Buffer | null {
  const bytes = Buffer.from(text);
  return bytes.length > textBytesMax ? null : bytes;
}

/** Finds the text in a file of the sandbox's own speech; `null` if it is not one. */
export async function findSpokenText(chunks: AsyncIterable<Buffer>): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes >= markedBytesMax) break;
  }
  const head = Buffer.concat(parts);
  return head.toString("latin1", 0, 4) === "RIFF" ? readSamples(head.subarray(headerBytes)) : readComment(head);
}

function readComment(head: Buffer): string | null {
  const startsAt = head.indexOf(start);
  const endsAt = startsAt === -1 ? -1 : head.indexOf(end, startsAt);
  if (endsAt === -1) return null;
  return Buffer.from(head.toString("latin1", startsAt + start.length, endsAt), "base64url").toString();
}

/** The mark as an ID3v2.3 tag before an MP3, in characters that content sniffing does not take for HTML. */
export function createMp3Mark(text: string): Buffer {
  const bytes = encodeText(text);
  if (bytes === null) return Buffer.alloc(0);
  // Latin-1, a mandatory language, no description.
  const comment = Buffer.from(`\0eng\0${start}${bytes.toString("base64url")}${end}`, "latin1");
  const frame = Buffer.alloc(10);
  frame.write("COMM", 0, "latin1");
  frame.writeUInt32BE(comment.length, 4);
  const tag = Buffer.alloc(10);
  tag.write("ID3\x03", 0, "latin1");
  const tagBytes = frame.length + comment.length;
  // ID3 sizes use 7 bits per byte.
  for (const [index, shift] of [21, 14, 7, 0].entries()) tag[6 + index] = (tagBytes >> shift) & 0x7f;
  return Buffer.concat([tag, frame, comment]);
}

/** Marks the samples of a WAV, which may be split anywhere. */
export function createSampleMarker(text: string): (audio: Buffer) => Buffer {
  const bytes = encodeText(text);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(bytes?.length ?? 0);
  const mark = bytes === null ? Buffer.alloc(0) : Buffer.concat([Buffer.from(start), length, bytes]);
  let position = 0;
  return (audio) => {
    const markedBytes = mark.length * bitsPerByte * sampleBytes;
    if (position >= markedBytes) return audio;
    const marked = Buffer.from(audio);
    for (let index = 0; index < marked.length && position < markedBytes; index += 1, position += 1) {
      // Samples are little-endian: the first byte is the lower one.
      if (position % sampleBytes !== 0) continue;
      const bit = position / sampleBytes;
      const value = ((mark[Math.floor(bit / bitsPerByte)] ?? 0) >> (bit % bitsPerByte)) & 1;
      marked[index] = ((marked[index] ?? 0) & 0xfe) | value;
    }
    return marked;
  };
}

function readSamples(samples: Buffer): string | null {
  const read = (from: number, count: number): Buffer => {
    const bytes = Buffer.alloc(count);
    for (let bit = 0; bit < count * bitsPerByte; bit += 1) {
      const value = (samples[(from * bitsPerByte + bit) * sampleBytes] ?? 0) & 1;
      const index = Math.floor(bit / bitsPerByte);
      bytes[index] = (bytes[index] ?? 0) | (value << (bit % bitsPerByte));
    }
    return bytes;
  };
  if (read(0, start.length).toString("latin1") !== start) return null;
  const count = read(start.length, lengthBytes).readUInt32LE(0);
  const from = start.length + lengthBytes;
  if (count > textBytesMax || (from + count) * bitsPerByte * sampleBytes > samples.length) return null;
  return read(from, count).toString();
}
