import { speechRate } from "./speak-text.ts";

const headerBytes = 44;
/** For an unknown length; readers then read to the end. */
const unknownBytes = 0xffff_ffff;

/** A WAV header: one channel, 16 bits. `dataBytes` is `null` for streamed audio. */
export function createWavHeader(dataBytes: number | null): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(dataBytes === null ? unknownBytes : dataBytes + headerBytes - 8, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(speechRate, 24);
  header.writeUInt32LE(speechRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes ?? unknownBytes, 40);
  return header;
}
