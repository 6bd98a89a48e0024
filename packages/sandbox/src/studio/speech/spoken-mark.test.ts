import { expect, test } from "vitest";
import { createMp3Mark, createSampleMarker, findSpokenText } from "./spoken-mark.ts";
import { createWavHeader } from "./wav-header.ts";

const texts = ["The gate is open.", "今天天气很好。", "x".repeat(2000)];
const silence = Buffer.alloc(96_000);

async function find(...chunks: Buffer[]): Promise<string | null> {
  return await findSpokenText(
    (async function* () {
      yield* chunks;
    })(),
  );
}

test.each(texts)("a WAV carries its text in inaudible bits, however it is split", async (text) => {
  const mark = createSampleMarker(text);
  const cuts = [0, 1, 7, 5000, 5001, silence.length];
  const marked = cuts.slice(1).map((to, index) => mark(silence.subarray(cuts[index], to)));
  expect(Buffer.concat(marked).every((byte) => byte <= 1)).toBe(true);
  expect(await find(createWavHeader(null), ...marked)).toBe(text);
});

test.each(texts)("an MP3 carries its text in a comment before its audio", async (text) => {
  const mark = createMp3Mark(text);
  expect(mark.toString("latin1", 0, 3)).toBe("ID3");
  expect(await find(mark.subarray(0, 20), mark.subarray(20), Buffer.from([0xff, 0xf3]))).toBe(text);
});

test("other or truncated files have no text", async () => {
  const wav = Buffer.concat([createWavHeader(null), createSampleMarker("Hello")(silence)]);
  expect(await find(createWavHeader(null), silence)).toBeNull();
  expect(await find(wav.subarray(0, 400))).toBeNull();
  expect(await find(createMp3Mark("Hello").subarray(0, 40))).toBeNull();
  expect(await find()).toBeNull();
  expect(await find(createMp3Mark("x".repeat(70_000)), createSampleMarker("x".repeat(70_000))(silence))).toBeNull();
});
