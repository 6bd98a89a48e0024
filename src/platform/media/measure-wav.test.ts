import { expect, test } from "vitest";
import { measureWav } from "./measure-wav.ts";

type Format = { tag: number; channels: number; rate: number; bits: number; extra?: Buffer };

const plain: Format = { tag: 1, channels: 1, rate: 8000, bits: 16 };

type Oddities = { declared?: number; before?: Buffer };

function writeWav(format: Format, dataBytes: number, oddities: Oddities = {}): Buffer {
  const { declared = dataBytes, before = Buffer.alloc(0) } = oddities;
  const { tag, channels, rate, bits, extra = Buffer.alloc(0) } = format;
  const fields = Buffer.alloc(16);
  const blockBytes = (channels * bits) / 8;
  fields.writeUInt16LE(tag, 0);
  fields.writeUInt16LE(channels, 2);
  fields.writeUInt32LE(rate, 4);
  fields.writeUInt32LE(rate * blockBytes, 8);
  fields.writeUInt16LE(blockBytes, 12);
  fields.writeUInt16LE(bits, 14);
  const fmt = Buffer.concat([fields, extra]);
  return Buffer.concat([
    Buffer.from("RIFF\0\0\0\0WAVE", "latin1"),
    before,
    writeChunk("fmt ", fmt),
    writeHeader("data", declared),
    Buffer.alloc(dataBytes),
  ]);
}

function writeHeader(name: string, size: number): Buffer {
  const header = Buffer.from(`${name}\0\0\0\0`, "latin1");
  header.writeUInt32LE(size, 4);
  return header;
}

function writeChunk(name: string, bytes: Buffer): Buffer {
  return Buffer.concat([writeHeader(name, bytes.length), bytes, Buffer.alloc(bytes.length % 2)]);
}

async function measure(bytes: Buffer): Promise<number | null> {
  const read = async (position: number, length: number) => bytes.subarray(position, position + length);
  return await measureWav({ size: bytes.length, read });
}

test("the header of a plain WAV file gives its length", async () => {
  expect(await measure(writeWav(plain, 16_000))).toBe(1000);
  expect(await measure(writeWav({ tag: 3, channels: 2, rate: 48_000, bits: 32 }, 384_000 * 2))).toBe(2000);
  const odd = writeChunk("LIST", Buffer.from("odd"));
  expect(await measure(writeWav(plain, 8000, { before: odd }))).toBe(500);
  const extra = Buffer.alloc(24);
  extra.writeUInt16LE(1, 8);
  expect(await measure(writeWav({ ...plain, tag: 0xfffe, extra }, 16_000))).toBe(1000);
});

test("a WAV file that is compressed, cut short or contradicts itself is left to the decoder", async () => {
  expect(await measure(writeWav({ ...plain, tag: 0x11, bits: 4 }, 16_000))).toBeNull();
  expect(await measure(writeWav(plain, 16_000, { declared: 16_002 }))).toBeNull();
  expect(await measure(writeWav(plain, 16_000, { declared: 0xffffffff }))).toBeNull();
  expect(await measure(writeWav(plain, 16_000, { declared: 0 }))).toBeNull();
  expect(await measure(writeWav({ ...plain, channels: 0 }, 16_000))).toBeNull();
  expect(await measure(writeWav({ ...plain, tag: 0xfffe }, 16_000))).toBeNull();
  const wrongRate = writeWav(plain, 16_000);
  wrongRate.writeUInt32LE(1, 12 + 8 + 8);
  expect(await measure(wrongRate)).toBeNull();
  expect(await measure(writeWav(plain, 16_000).subarray(0, 20))).toBeNull();
});
