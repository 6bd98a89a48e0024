import type { FileWindow } from "./file-window.ts";
import type { MediaType } from "./media-type.ts";

/**
 * Where the file ends according to its structure. Beyond its size: data is missing. `frames` counts the images of a GIF.
 * `null`: the type does not define an end, or it is unreliable.
 */
export type ContainerEnd = { end: number; frames: number };

const stepsMax = 2_000_000;
const beyond: ContainerEnd = { end: Number.POSITIVE_INFINITY, frames: 0 };

export async function findContainerEnd(file: FileWindow, type: MediaType): Promise<ContainerEnd | null> {
  switch (type.name) {
    case "png":
      return await followChunks(file);
    case "gif":
      return await followGif(file);
    case "webp":
      return await readRiffEnd(file);
    case "wav":
      return await readWavEnd(file);
    case "mp4":
    case "m4a":
    case "mov":
      return await followBoxes(file);
    case "ogg":
      return await findLastPage(file);
    default:
      return null;
  }
}

async function followChunks(file: FileWindow): Promise<ContainerEnd> {
  let position = 8;
  for (let step = 0; step < stepsMax; step += 1) {
    const header = await file.read(position, 8);
    if (header.length < 8) return beyond;
    position += 12 + header.readUInt32BE(0);
    if (header.toString("latin1", 4) === "IEND") return { end: position, frames: 1 };
  }
  return beyond;
}

async function readRiffEnd(file: FileWindow): Promise<ContainerEnd> {
  const size = (await file.read(4, 4)).readUInt32LE(0);
  return { end: 8 + size + (size % 2), frames: 0 };
}

/** Writers to a pipe do not know the size and write 0 or the maximum; other writers miscount trailing data. */
async function readWavEnd(file: FileWindow): Promise<ContainerEnd | null> {
  const size = (await file.read(4, 4)).readUInt32LE(0);
  if (size === 0 || size >= 0xffffff00) return null;
  return 8 + size > file.size ? beyond : null;
}

const boxTypes = new Set(
  "ftyp moov mdat free skip wide uuid udta meta moof mfra sidx ssix styp pdin pnot prft emsg".split(" "),
);

/** An unknown top-level box is treated as data appended to the video. */
async function followBoxes(file: FileWindow): Promise<ContainerEnd> {
  let position = 0;
  for (let step = 0; step < stepsMax && position < file.size; step += 1) {
    const header = await file.read(position, 16);
    if (header.length < 8) return beyond;
    if (!boxTypes.has(header.toString("latin1", 4, 8))) return { end: position, frames: 0 };
    const size = readBoxSize(header, file.size - position);
    if (size < 8) return beyond;
    position += size;
  }
  return { end: position, frames: 0 };
}

function readBoxSize(header: Buffer, rest: number): number {
  const size = header.readUInt32BE(0);
  if (size === 0) return rest;
  if (size !== 1) return size;
  return header.length < 16 ? Number.POSITIVE_INFINITY : Number(header.readBigUInt64BE(8));
}

const pageBytesMax = 65_307;

/** The last page is complete if it has all segments of its table. */
async function findLastPage(file: FileWindow): Promise<ContainerEnd> {
  const start = Math.max(0, file.size - pageBytesMax);
  const tail = await file.read(start, pageBytesMax);
  const page = tail.subarray(tail.lastIndexOf("OggS"));
  const segmentCount = page[26] ?? 0;
  const table = page.subarray(27, 27 + segmentCount);
  if (page.length < 27 || table.length < segmentCount) return beyond;
  const pageBytes = 27 + segmentCount + table.reduce((sum, bytes) => sum + bytes, 0);
  return { end: file.size - page.length + pageBytes, frames: 0 };
}

async function followGif(file: FileWindow): Promise<ContainerEnd> {
  const flags = (await file.read(10, 1))[0] ?? 0;
  let position = 13 + measurePalette(flags);
  let frames = 0;
  for (let step = 0; step < stepsMax; step += 1) {
    const block = await file.read(position, 10);
    if (block[0] === 0x3b) return { end: position + 1, frames };
    if (block[0] === 0x21) position = await skipSubBlocks(file, position + 2);
    else if (block[0] === 0x2c && block.length === 10) {
      frames += 1;
      position = await skipSubBlocks(file, position + 11 + measurePalette(block[9] ?? 0));
    } else return beyond;
  }
  return beyond;
}

function measurePalette(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

async function skipSubBlocks(file: FileWindow, start: number): Promise<number> {
  let position = start;
  for (let step = 0; step < stepsMax; step += 1) {
    const [length] = await file.read(position, 1);
    if (length === undefined) return file.size;
    position += 1 + length;
    if (length === 0) return position;
  }
  return file.size;
}
