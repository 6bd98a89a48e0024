import { expect, test } from "vitest";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import type { ChatRequest } from "../chat-request.ts";
import { type FetchImage, fetchImages } from "./fetch-images.ts";

function ask(urls: readonly string[]): ChatRequest {
  const content = urls.map((url) => ({ type: "image_url" as const, image_url: { url } }));
  return {
    model: "ours",
    messages: [
      { role: "user", content: "Hi" },
      { role: "user", content },
    ],
  };
}

const urls = Array.from({ length: 10 }, (_, index) => `https://a.example/${index}`);

/** Images that arrive when the test lets them. */
function createSlowImages() {
  const waiting: { url: string; answer: PromiseWithResolvers<{ bytes: Buffer; contentType: string }> }[] = [];
  let asked = 0;
  const fetchImage: FetchImage = (url) => {
    asked += 1;
    const answer = Promise.withResolvers<{ bytes: Buffer; contentType: string }>();
    waiting.push({ url, answer });
    return answer.promise;
  };
  return { fetchImage, waiting, countAsked: () => asked };
}

test("a few images are fetched at a time, and all in the end", async () => {
  const { fetchImage, waiting, countAsked } = createSlowImages();
  const fetching = fetchImages(ask(urls), { fetchImage, signal: new AbortController().signal });
  for (let done = 0; done < urls.length; done += 1) {
    const next = await waitUntil("the next one", () => waiting.shift());
    expect(countAsked()).toBeLessThanOrEqual(done + 4);
    next.answer.resolve({ bytes: Buffer.from(next.url), contentType: "IMAGE/PNG; a=b" });
  }
  const images = await fetching;
  expect([...images.keys()].sort()).toEqual(urls);
  expect(images.get("https://a.example/7")).toEqual({
    bytes: Buffer.from("https://a.example/7"),
    mediaType: "image/png",
  });
});

test("after a failure, or the end of the call, no other fetch starts", async () => {
  const failing = createSlowImages();
  const signal = new AbortController().signal;
  const fetching = fetchImages(ask([...urls, ...urls]), { ...failing, signal });
  failing.waiting[1]?.answer.reject(new Error("It is gone."));
  await expect(fetching).rejects.toMatchObject({ kind: "rejected", param: "messages[1].content[1].image_url.url" });
  failing.waiting[0]?.answer.resolve({ bytes: Buffer.from("a"), contentType: "image/png" });
  await Promise.resolve();
  expect(failing.countAsked()).toBe(4);

  const ended = createSlowImages();
  await expect(fetchImages(ask(urls), { ...ended, signal: AbortSignal.abort() })).rejects.toThrow();
  expect(ended.countAsked()).toBe(0);
});

test("images that are too large in total are rejected", async () => {
  const bytes = Buffer.alloc(9 * 1024 * 1024);
  const fetchImage: FetchImage = async () => ({ bytes, contentType: "image/png" });
  const { signal } = new AbortController();
  await expect(fetchImages(ask(urls.slice(0, 4)), { fetchImage, signal })).rejects.toMatchObject({ kind: "too-long" });
  expect((await fetchImages(ask(urls.slice(0, 3)), { fetchImage, signal })).size).toBe(3);
});
