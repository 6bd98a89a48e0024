// Reads images of strangers, one after another: the decoder is native code, and whoever breaks it has no disk, no network
// and a few images whose reports it can falsify. Started by create-picture-reader.ts, before there is an image. Each
// comes behind its length in four bytes, and is answered with a line.
import "sharp";
import { readPicture } from "./read-picture.ts";

// Whatever goes wrong before this is no fault of an image's.
process.stdout.write("ready\n");
for await (const picture of listPictures()) process.stdout.write(`${JSON.stringify(await readPicture(picture))}\n`);

async function* listPictures(): AsyncGenerator<Buffer> {
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

/** How many bytes there are until the end of the next image; `null` as long as nobody knows. */
function readLength(chunks: Buffer[], length: number): number | null {
  if (length < 4) return null;
  const [first] = chunks;
  const head = first !== undefined && first.length >= 4 ? first : Buffer.concat(chunks, length);
  return 4 + head.readUInt32BE(0);
}
