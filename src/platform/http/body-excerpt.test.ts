import { expect, test } from "vitest";
import { createByteAllowance } from "../../lib/byte-allowance.ts";
import { BodyExcerpt } from "./body-excerpt.ts";

const limits = { bytesMax: 8192, wordBytesMax: 1024, wordBytesShown: 64 };
const picture = "iVBORw0KGgo".repeat(1000);
const body = `{"a":"é","image":"data:image/png;base64,${picture}","b":"${"word ".repeat(100)}","c":"${picture}`;

function gather(text: string, chunkBytes: number, allowance = createByteAllowance(1_000_000)): BodyExcerpt {
  const excerpt = new BodyExcerpt(limits, allowance);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) excerpt.add(bytes.subarray(at, at + chunkBytes));
  return excerpt;
}

test.each([1, 7, 1000, 100_000])("the excerpt is the same in chunks of %i bytes", (chunkBytes) => {
  const excerpt = gather(body, chunkBytes);
  const shown = `${picture.slice(0, 64)}…[${picture.length - 64} characters omitted]`;
  expect(excerpt.read().toString()).toBe(body.replaceAll(picture, shown));
  expect([excerpt.bytes, excerpt.omittedBytes, excerpt.isCut]).toEqual([
    Buffer.byteLength(body),
    2 * (picture.length - 64),
    false,
  ]);
});

test.each([13, 100_000])("a long body is truncated, in chunks of %i bytes", (chunkBytes) => {
  const text = "some words ".repeat(2000);
  const excerpt = gather(text, chunkBytes);
  expect(excerpt.read().toString()).toBe(text.slice(0, limits.bytesMax));
  expect([excerpt.bytes, excerpt.isCut]).toEqual([text.length, true]);
});

test("releases its memory, also after the allowance ran out", () => {
  const allowance = createByteAllowance(10_000);
  const text = "some words ".repeat(500);
  const first = gather(text, 1000, allowance);
  const second = gather(text, 1000, allowance);
  expect([first.isLost, second.isLost, second.read().length]).toEqual([false, true, 0]);
  expect(allowance.take(10_000)).toBe(false);
  first.release();
  second.release();
  expect(allowance.take(10_000)).toBe(true);
});
