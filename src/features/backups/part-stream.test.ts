import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { createDiskStore } from "../../platform/storage/create-disk-store.ts";
import { DamagedPartError, readParts, splitLines, writeParts } from "./part-stream.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-parts-"));
const place = await createDiskStore({ folder });
const writer = { place, folder: "one", signal: new AbortController().signal };
afterAll(() => rmSync(folder, { recursive: true }));

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

const rows = Buffer.from(Array.from({ length: 200 }, (_, row) => `${row}\t${"x".repeat(row % 17)}\n`).join(""));

test.each([1, 7, 64, 1000, 100_000])(
  "rows in pieces of %i bytes are split between rows, and are the same again",
  async (size) => {
    const parts = await writeParts(writer, `rows-${size}`, cut(rows, size), 500);
    for (const part of parts) {
      const content = await buffer(readParts(writer, [part]));
      if (content.length > 0) expect(content.at(-1)).toBe(0x0a);
    }
    expect((await buffer(readParts(writer, parts))).equals(rows)).toBe(true);
    if (size < 500) expect(parts.length).toBeGreaterThan(2);
  },
);

test("an empty source is one empty part", async () => {
  const parts = await writeParts(writer, "none", cut(Buffer.alloc(0), 1));
  expect(parts).toHaveLength(1);
  expect(await buffer(readParts(writer, parts))).toHaveLength(0);
});

test("reading a modified part fails", async () => {
  const parts = await writeParts(writer, "changed", cut(rows, 64));
  writeFileSync(join(folder, "one", parts[0]?.key ?? ""), randomBytes(parts[0]?.bytes ?? 0));
  await expect(buffer(readParts(writer, parts))).rejects.toThrow();
  writeFileSync(join(folder, "one", parts[0]?.key ?? ""), "");
  await expect(buffer(readParts(writer, parts))).rejects.toThrow(DamagedPartError);
});

test("lines are split wherever the chunks end", async () => {
  for (const size of [1, 3, 1000]) {
    expect((await Array.fromAsync(splitLines(cut(rows, size)))).join("\n")).toBe(rows.toString().trimEnd());
  }
});
