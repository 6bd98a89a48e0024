import { asRecord, type JsonRecord } from "./json-value.ts";
import type { WrittenText } from "./written-text.ts";

export function sanitiseAudio(audio: JsonRecord, written: WrittenText): object {
  const { id, data, transcript, expires_at: expiresAt } = audio;
  if (typeof transcript === "string") written.text += transcript;
  return {
    ...(typeof id === "string" ? { id } : {}),
    ...(typeof data === "string" ? { data } : {}),
    ...(typeof transcript === "string" ? { transcript } : {}),
    ...(typeof expiresAt === "number" ? { expires_at: expiresAt } : {}),
  };
}

const imageUrlPattern = /^data:image\/[a-z0-9.+-]+;base64,/;

/** Inline images. One behind a URL is dropped: the URL would reveal the vendor. */
export function sanitiseImages(values: readonly unknown[]): object[] {
  const clean: object[] = [];
  for (const value of values) {
    const image = asRecord(value);
    const url = asRecord(image?.image_url)?.url;
    if (typeof url !== "string" || !imageUrlPattern.test(url)) continue;
    const { index } = image ?? {};
    clean.push({ ...(typeof index === "number" ? { index } : {}), type: "image_url", image_url: { url } });
  }
  return clean;
}

export function sanitiseAnnotations(values: readonly unknown[]): object[] {
  const clean: object[] = [];
  for (const value of values) {
    const citation = asRecord(asRecord(value)?.url_citation);
    if (citation === null) continue;
    const { start_index: start, end_index: end, url, title } = citation;
    clean.push({
      type: "url_citation",
      url_citation: {
        ...(typeof start === "number" ? { start_index: start } : {}),
        ...(typeof end === "number" ? { end_index: end } : {}),
        ...(typeof url === "string" ? { url } : {}),
        ...(typeof title === "string" ? { title } : {}),
      },
    });
  }
  return clean;
}

export function sanitiseLogprobs(value: unknown): object | null {
  const logprobs = asRecord(value);
  if (logprobs === null) return null;
  return {
    content: sanitiseTokens(logprobs.content),
    refusal: sanitiseTokens(logprobs.refusal),
  };
}

function sanitiseTokens(values: unknown): object[] | null {
  if (!Array.isArray(values)) return null;
  return values
    .map(asRecord)
    .filter((token) => token !== null)
    .map((token) => ({
      ...sanitiseToken(token),
      top_logprobs: (Array.isArray(token.top_logprobs) ? token.top_logprobs : [])
        .map(asRecord)
        .filter((top) => top !== null)
        .map(sanitiseToken),
    }));
}

function sanitiseToken({ token, logprob, bytes }: JsonRecord): object {
  const isBytes = Array.isArray(bytes) && bytes.every((byte) => typeof byte === "number");
  return {
    token: typeof token === "string" ? token : "",
    logprob: typeof logprob === "number" ? logprob : 0,
    bytes: isBytes ? bytes : null,
  };
}
