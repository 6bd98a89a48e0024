import { randomBytes } from "node:crypto";
import type { Fetch } from "../../platform/net/upstream-fetch.ts";

/** Base64 media of a request that a package does not see: it gets a stand-in, and `fetch` puts the media into the body. */
export type MediaSplice = {
  /** Returns a stand-in for long media, and short media as it is. */
  hide(base64: string): string;
  restore(fetch: Fetch): Fetch;
};

/** A package copies shorter media in no time. */
const hiddenCharactersMin = 256 * 1024;

/** Long enough that no request contains it by chance. Base64 without padding, which packages pass on as it is. */
const standInBytes = 48;

/**
 * Packages write a body as JSON two or three times before they send it, which holds the event loop for 100 ms with 15 MB.
 */
export function createMediaSplice(): MediaSplice {
  const hidden: [standIn: string, base64: string][] = [];
  return {
    hide(base64) {
      if (base64.length < hiddenCharactersMin) return base64;
      const standIn = randomBytes(standInBytes).toString("base64");
      hidden.push([standIn, base64]);
      return standIn;
    },
    restore: (fetch) => (url, init) => {
      const body = init?.body;
      if (hidden.length === 0 || typeof body !== "string") return fetch(url, init);
      return fetch(url, { ...init, body: spliceMedia(body, hidden) });
    },
  };
}

function spliceMedia(
  body: string,
  hidden: readonly (readonly [standIn: string, base64: string])[],
): Buffer<ArrayBuffer> {
  const places = hidden
    .map(([standIn, base64]) => ({ start: body.indexOf(standIn), standIn, base64 }))
    .toSorted((one, other) => one.start - other.start);
  const pieces: Buffer[] = [];
  let end = 0;
  for (const { start, standIn, base64 } of places) {
    // Without its media, the vendor would answer another question.
    if (start === -1) throw new Error("The package changed the media of a request.");
    pieces.push(Buffer.from(body.slice(end, start)), Buffer.from(base64, "latin1"));
    end = start + standIn.length;
  }
  return Buffer.concat([...pieces, Buffer.from(body.slice(end))]);
}
