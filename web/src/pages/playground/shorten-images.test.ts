import { expect, test } from "vitest";
import { shortenImages } from "./shorten-images.ts";

test("image data is replaced by a placeholder, and the rest is unchanged", () => {
  const url = `data:image/png;base64,${"A".repeat(5000)}`;
  const body = { n: 1, off: null, messages: [{ content: [{ text: "data: yes" }, { image_url: { url } }] }] };
  expect(shortenImages(body)).toEqual({
    n: 1,
    off: null,
    messages: [{ content: [{ text: "data: yes" }, { image_url: { url: "data:image/png;base64,YOUR_IMAGE" } }] }],
  });
});
