import { Readable } from "node:stream";
import { checkPublicUrl } from "../platform/net/check-public-url.ts";
import { ProviderError } from "./contract.ts";
import type { GenerationInput } from "./generation.ts";

/** The callers' names of each role's field. */
const paramsByRole = {
  image: "input_images",
  "last-image": "last_image",
  person: "avatar_file_id",
  audio: "audio_file_id",
} as const satisfies Record<GenerationInput["role"], string>;

/**
 * The address of each input for a vendor on the internet: its own URL, or a data URI if it has none or the vendor takes
 * none. Throws a `ProviderError` if these exceed `bytesMax` in total.
 */
export async function addressInputs(
  inputs: readonly GenerationInput[],
  { bytesMax, takesUrls = true }: { bytesMax: number; takesUrls?: boolean },
): Promise<string[]> {
  let bytesLeft = bytesMax;
  const addresses: string[] = [];
  for (const input of inputs) {
    if (takesUrls && input.url !== null && checkPublicUrl(input.url, { allowsPrivate: false }) === null) {
      addresses.push(input.url);
    } else {
      const bytes = await readInput(input, bytesLeft);
      bytesLeft -= bytes.length;
      addresses.push(`data:${input.contentType};base64,${bytes.toString("base64")}`);
    }
  }
  return addresses;
}

async function readInput(input: GenerationInput, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const refuse = (): never => {
    throw new ProviderError("rejected", "The inputs are too large to send inline.", {
      param: paramsByRole[input.role],
      detail: { bytesMax },
    });
  };
  if (input.bytes > bytesMax) refuse();
  for await (const chunk of await input.open()) {
    length += chunk.length;
    if (length > bytesMax) refuse();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const groupCharacters = 64 * 1024;

/** Decodes base64 as it is read. Skips a data URI's prefix. */
export function openBase64(written: string): Readable {
  // Some vendors send it with line breaks.
  const text = /\s/.test(written) ? written.replaceAll(/\s+/g, "") : written;
  const start = text.startsWith("data:") ? text.indexOf(",") + 1 : 0;
  function* decode(): Generator<Buffer> {
    // Four characters are three bytes, so every group but the last decodes to whole bytes.
    for (let at = start; at < text.length; at += groupCharacters) {
      yield Buffer.from(text.slice(at, at + groupCharacters), "base64");
    }
  }
  return Readable.from(decode(), { objectMode: false });
}
