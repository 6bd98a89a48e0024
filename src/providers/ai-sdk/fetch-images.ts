import type { ChatRequest } from "../chat-request.ts";
import { ProviderError } from "../contract.ts";
import type { FetchedImage } from "./convert-messages.ts";

/** Fetches a caller's URL, with SSRF protection. */
export type FetchImage = (url: string) => Promise<{ bytes: Buffer; contentType: string }>;

const fetchesMax = 4;
const imageBytesMax = 32 * 1024 * 1024;

/**
 * Fetches the images of a request, each URL once. The vendor gets bytes, never a URL: a URL would show it who asks for
 * what, and might resolve to something else there.
 */
export async function fetchImages(
  request: ChatRequest,
  { fetchImage, signal }: { fetchImage: FetchImage; signal: AbortSignal },
): Promise<Map<string, FetchedImage>> {
  const images = new Map<string, FetchedImage>();
  const waiting = listImageUrls(request);
  let byteCount = 0;

  async function work(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      signal.throwIfAborted();
      const { url, param } = next;
      const image = await fetchOne(url, param, fetchImage);
      byteCount += image.bytes.byteLength;
      if (byteCount > imageBytesMax)
        throw new ProviderError("too-long", "The images are too large together.", { param });
      images.set(url, image);
    }
  }

  try {
    await Promise.all(Array.from({ length: fetchesMax }, work));
  } finally {
    // After a failure, start no more.
    waiting.length = 0;
  }
  return images;
}

async function fetchOne(url: string, param: string, fetchImage: FetchImage): Promise<FetchedImage> {
  const { bytes, contentType } = await fetchImage(url).catch((cause: unknown) => {
    throw new ProviderError("rejected", "An image could not be fetched.", { param, cause });
  });
  const mediaType = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!/^image\/[a-z0-9.+-]+$/.test(mediaType)) {
    throw new ProviderError("rejected", "A URL does not return an image.", { param });
  }
  return { bytes, mediaType };
}

/** Each URL once, with the first field that names it. */
function listImageUrls({ messages }: ChatRequest): { url: string; param: string }[] {
  const params = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== "user" || typeof message.content === "string") continue;
    for (const [place, part] of message.content.entries()) {
      if (part.type !== "image_url" || part.image_url.url.startsWith("data:")) continue;
      const { url } = part.image_url;
      if (!params.has(url)) params.set(url, `messages[${index}].content[${place}].image_url.url`);
    }
  }
  return [...params].map(([url, param]) => ({ url, param }));
}
