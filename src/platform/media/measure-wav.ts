import type { FileWindow } from "./file-window.ts";

const chunksMax = 64;
const channelsMax = 8;
const ratesMax = 384_000;
const formatTags = { pcm: 1, float: 3, extensible: 0xfffe } as const;
const bitsByTag: Readonly<Record<number, readonly number[]>> = {
  [formatTags.pcm]: [8, 16, 24, 32],
  [formatTags.float]: [32, 64],
};

/**
 * The length of a plain WAV file from its header: uncompressed samples need no decoder to prove them readable. `null`
 * for any other WAV file, which ffmpeg inspects.
 */
export async function measureWav(file: FileWindow): Promise<number | null> {
  let position = 12;
  let bytesPerSecond: number | null = null;
  for (let chunk = 0; chunk < chunksMax; chunk += 1) {
    const header = await file.read(position, 8);
    if (header.length < 8) return null;
    const name = header.toString("latin1", 0, 4);
    const size = header.readUInt32LE(4);
    if (name === "fmt ") bytesPerSecond = readFormat(await file.read(position + 8, Math.min(size, 40)));
    if (name === "data") {
      // A writer to a pipe does not know the size.
      if (bytesPerSecond === null || size === 0 || position + 8 + size > file.size) return null;
      return Math.round((size / bytesPerSecond) * 1000);
    }
    position += 8 + size + (size % 2);
  }
  return null;
}

/** Bytes per second; `null` if the samples are compressed or the fields contradict each other. */
function readFormat(format: Buffer): number | null {
  if (format.length < 16) return null;
  const tag = format.readUInt16LE(0);
  if (tag === formatTags.extensible && format.length < 40) return null;
  const codec = tag === formatTags.extensible ? format.readUInt16LE(24) : tag;
  const [channels, rate, bytesPerSecond] = [format.readUInt16LE(2), format.readUInt32LE(4), format.readUInt32LE(8)];
  const [blockBytes, bits] = [format.readUInt16LE(12), format.readUInt16LE(14)];
  const isPlain =
    (bitsByTag[codec] ?? []).includes(bits) &&
    channels >= 1 &&
    channels <= channelsMax &&
    rate >= 1 &&
    rate <= ratesMax &&
    blockBytes === (channels * bits) / 8 &&
    bytesPerSecond === rate * blockBytes;
  return isPlain ? bytesPerSecond : null;
}
