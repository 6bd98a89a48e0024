import { expect, test } from "vitest";
import { shortenImages } from "./shorten-images.ts";

test("an image does not fill the page, and everything else stays as it is", () => {
  const url = `data:image/png;base64,${"A".repeat(5000)}`;
  const body = { n: 1, off: null, messages: [{ content: [{ text: "data: yes" }, { image_url: { url } }] }] };
  expect(shortenImages(body)).toEqual({
    n: 1,
    off: null,
    messages: [{ content: [{ text: "data: yes" }, { image_url: { url: "data:image/png;base64,YOUR_IMAGE" } }] }],
  });
});
