import { Readable } from "node:stream";
import { checkPublicUrl } from "../platform/net/check-public-url.ts";
import { ProviderError } from "./contract.ts";
import type { GenerationInput } from "./generation.ts";

/** Where a caller names what is used in a role. */
const paramsByRole = {
  image: "input_images",
  person: "avatar_file_id",
  audio: "audio_file_id",
} as const satisfies Record<GenerationInput["role"], string>;

/**
 * The address of each input for a vendor on the Internet: its own, or, where that leads nowhere for them, a data URI.
 * Throws a `ProviderError` where those would have more than `bytesMax` bytes together.
 */
export async function addressInputs(
  inputs: readonly GenerationInput[],
  { bytesMax }: { bytesMax: number },
): Promise<string[]> {
  let bytesLeft = bytesMax;
  const addresses: string[] = [];
  for (const input of inputs) {
    if (input.url !== null && checkPublicUrl(input.url, { allowsPrivate: false }) === null) {
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
    throw new ProviderError("rejected", "The inputs are too large to be sent along.", {
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

/** The bytes of a base64 text, decoded as somebody reads. A data URI's beginning is not part of them. */
export function openBase64(written: string): Readable {
  // Some write it in lines.
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
