import type { FileWindow } from "./file-window.ts";

const scanBytes = 128 * 1024;
const archiveMarks = [
  Buffer.from("Rar!\x1a\x07", "latin1"),
  Buffer.from([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]), // 7z
];
const markBytesMax = 8;

/** Signs of HTML, PHP, SVG or PDF. */
const textMarks = /<script|<html|<!doctype|<\?php|<iframe|<svg[\s>]|%pdf-\d/i;
const textHeadBytes = 4096;

const zipEnd = Buffer.from("PK\x05\x06", "latin1");
const zipEndBytes = 22;
const zipEndBytesMax = zipEndBytes + 65_535;

/** Detects polyglot files that are also an archive, page, script or document. */
export async function hasForeignContent(file: FileWindow): Promise<boolean> {
  const head = await file.read(0, textHeadBytes);
  if (textMarks.test(head.toString("latin1"))) return true;
  const tailStart = Math.max(0, file.size - zipEndBytesMax);
  const tail = await file.read(tailStart, file.size - tailStart);
  if (textMarks.test(tail.toString("latin1")) || endsAsZip(tail)) return true;
  for (let position = 0; position < file.size; position += scanBytes - markBytesMax) {
    const part = await file.read(position, scanBytes);
    if (archiveMarks.some((mark) => part.includes(mark))) return true;
  }
  return false;
}

/** The signature can occur by chance; it counts if its comment ends at the end of the file. */
function endsAsZip(tail: Buffer): boolean {
  for (let at = tail.lastIndexOf(zipEnd); at !== -1; at = at === 0 ? -1 : tail.lastIndexOf(zipEnd, at - 1)) {
    if (at + zipEndBytes <= tail.length && at + zipEndBytes + tail.readUInt16LE(at + 20) === tail.length) return true;
  }
  return false;
}
