import { expect, test } from "vitest";
import { createPartHead, readSpokenAudio } from "./spoken-audio.ts";

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 3, 7, 8, 100, 5000])(
  "audio in pieces of %i bytes is the same audio, with its share of the text",
  async (size) => {
    const parts = [Buffer.alloc(40, 1), Buffer.alloc(60, 2)];
    const written = Buffer.concat(
      [createPartHead(40, 0.25), parts[0] ?? "", createPartHead(60, 1), parts[1] ?? ""].map((part) =>
        Buffer.from(part),
      ),
    );
    const shares: number[] = [];
    const audio = Buffer.concat(
      await Array.fromAsync(readSpokenAudio(cut(written, size), (share) => shares.push(share))),
    );
    expect(audio.equals(Buffer.concat(parts))).toBe(true);
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    expect(shares).toContain(0.25);
  },
);

test("a truncated part is an error", async () => {
  const written = Buffer.concat([createPartHead(40, 1), Buffer.alloc(20)]);
  await expect(Array.fromAsync(readSpokenAudio(cut(written, 100), () => {}))).rejects.toThrow("within a part");
});
