const blockBytes = 512;

/** A file of a tar archive (ustar): its header, its bytes and the padding. */
export function presentTarFile(name: string, text: string, writtenAt: Date): Buffer {
  const bytes = Buffer.from(text);
  const padding = Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes);
  return Buffer.concat([presentHeader(name, bytes.length, writtenAt), bytes, padding]);
}

/** Two empty blocks. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockBytes);

function presentHeader(name: string, byteCount: number, writtenAt: Date): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(name, 0, 100);
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(byteCount, 11), 124);
  header.write(octal(Math.floor(writtenAt.getTime() / 1000), 11), 136);
  // The sum is computed with spaces in its place.
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\0" + "00", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
