import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { GenerationInput } from "./generation.ts";
import { addressInputs, openBase64 } from "./inline-media.ts";

const bytes = randomBytes(200_001);

test("base64 is decoded in pieces to the same bytes, with and without line breaks or a data URI", async () => {
  const text = bytes.toString("base64");
  const lines = text.replaceAll(/.{76}/g, (line) => `${line}\r\n`);
  for (const written of [text, lines, `data:image/png;base64,${text}`, bytes.toString("base64url")]) {
    expect((await buffer(openBase64(written))).equals(bytes)).toBe(true);
  }
  const pieces = await Array.fromAsync(openBase64(text));
  expect(pieces.length).toBeGreaterThan(2);
});

test("invalid base64 does not throw: the type is decided by the bytes", async () => {
  expect(await buffer(openBase64(""))).toHaveLength(0);
  await buffer(openBase64("%%% not base64 at all"));
});

function createInput(content: string, changes: Partial<GenerationInput> = {}): GenerationInput {
  const open = async () => Readable.from([Buffer.from(content)]);
  return { role: "image", contentType: "image/png", bytes: content.length, open, url: null, ...changes };
}

test.for([
  ["https://files.example.com/a?sig=1", "https://files.example.com/a?sig=1"],
  ["http://files.example.com/a", "data:image/png;base64,cGl4"],
  ["https://localhost:4000/a", "data:image/png;base64,cGl4"],
  ["https://10.0.0.1/a", "data:image/png;base64,cGl4"],
  [null, "data:image/png;base64,cGl4"],
] as const)("an input at %s is sent as %s", async ([url, address]) => {
  expect(await addressInputs([createInput("pix", { url })], { bytesMax: 3 })).toEqual([address]);
});

test("inline inputs count towards the limit, those with a URL do not", async () => {
  const public1 = createInput("xxxxxx", { url: "https://files.example.com/a" });
  const inputs = [createInput("ab"), public1, createInput("c")];
  expect(await addressInputs(inputs, { bytesMax: 3 })).toHaveLength(3);
  const failure = { kind: "rejected", param: "audio_file_id" };
  const more = [...inputs, createInput("d", { role: "audio" })];
  await expect(addressInputs(more, { bytesMax: 3 })).rejects.toMatchObject(failure);
  const liar = createInput("dddd", { role: "audio", bytes: 1 });
  await expect(addressInputs([liar], { bytesMax: 3 })).rejects.toMatchObject(failure);
});
