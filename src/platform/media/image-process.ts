// Decodes user-supplied images in a confined process: the decoder is native code, and an exploit gets no disk, no network
// and at most a few reports to falsify. Protocol: each image is prefixed with its length in four bytes; each report is a line.
import "sharp";
import { readImage } from "./read-image.ts";

// A failure before this line is not an image's fault.
process.stdout.write("ready\n");
for await (const image of listImages()) process.stdout.write(`${JSON.stringify(await readImage(image))}\n`);

async function* listImages(): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    length += chunk.length;
    for (
      let wanted = readLength(chunks, length);
      wanted !== null && length >= wanted;
      wanted = readLength(chunks, length)
    ) {
      const whole = Buffer.concat(chunks, length);
      yield whole.subarray(4, wanted);
      chunks = [whole.subarray(wanted)];
      length -= wanted;
    }
  }
}

/** Bytes until the end of the next image; `null` while unknown. */
function readLength(chunks: Buffer[], length: number): number | null {
  if (length < 4) return null;
  const [first] = chunks;
  const head = first !== undefined && first.length >= 4 ? first : Buffer.concat(chunks, length);
  return 4 + head.readUInt32BE(0);
}
