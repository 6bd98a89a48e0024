import type { ChatPiece } from "../contract.ts";
import { type CleanChunk, type ReadChunk, readChunk } from "./read-chunk.ts";

/**
 * The chunks of an answer differ in nothing but their text, so what was learned from one of them tells how to turn the
 * next into a piece without parsing it: what stands before the text and after it is known, in theirs and in ours. Some
 * vendors add noise at the end, against those who guess texts by their length.
 */
export type ChunkTemplate = {
  /** Up to and with the quote that opens the text. */
  prefix: string;
  /** From the quote that closes the text; where there is noise, up to and with the quote that opens it. */
  suffix: string;
  /** From the quote that closes the noise, or `null` where there is none. */
  noiseSuffix: string | null;
  cleanPrefix: string;
  cleanSuffix: string;
  /** Which choices such a chunk belongs to. */
  indexes: readonly number[];
};

const textPattern = /"(?:content|reasoning_content|reasoning|arguments)"\s*:\s*"(?!")/;
const noisePattern = /"(?:obfuscation|p)"\s*:\s*"/;
/** Two characters that no model writes, as they stand in JSON and as they are. */
const probe = "\\u001a\\u001a";
const probeText = "\u001a\u001a";

/** Where a chunk's text seems to begin, `null` where there is nothing to learn from it. */
export function findText(data: string): number | null {
  const match = textPattern.exec(data);
  return match === null ? null : match.index + match[0].length;
}

/**
 * Learns from a chunk that has some text and nothing else of interest, or returns `null`. Whatever the place of the text
 * is believed to be, another text is put there and read the slow way: only if exactly this text comes out, once, is the
 * place the right one. Any string of JSON may stand where a string of JSON stood, so this then holds for all texts.
 */
export function learnTemplate(data: string, textFrom = findText(data)): ChunkTemplate | null {
  if (textFrom === null) return null;
  const textTo = findStringEnd(data, textFrom, data.length);
  if (textTo < 0) return null;
  const prefix = data.slice(0, textFrom);
  const rest = splitNoise(data.slice(textTo));
  const probed = readChunk(prefix + probe + rest.suffix + (rest.noiseSuffix === null ? "" : probe + rest.noiseSuffix));
  if (!isPlain(probed) || probed.text !== probeText) return null;
  const [cleanPrefix, cleanSuffix, ...more] = JSON.stringify(probed.choices).split(probe);
  if (cleanPrefix === undefined || cleanSuffix === undefined || more.length > 0) return null;
  return {
    prefix: copyText(prefix),
    suffix: copyText(rest.suffix),
    noiseSuffix: rest.noiseSuffix === null ? null : copyText(rest.noiseSuffix),
    cleanPrefix: copyText(cleanPrefix),
    cleanSuffix: copyText(cleanSuffix),
    indexes: probed.choices.map(({ index }) => index),
  };
}

/** A text of its own: one that is part of another keeps the other in memory and is slower to compare with. */
function copyText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** Whether a chunk says nothing that has to be remembered: it goes on, and tells no usage. */
function isPlain(chunk: ReadChunk): chunk is CleanChunk {
  return (
    chunk.kind === "chunk" &&
    chunk.usage === null &&
    chunk.choices.every(({ finish_reason: reason }) => reason === null)
  );
}

function splitNoise(rest: string): { suffix: string; noiseSuffix: string | null } {
  const match = noisePattern.exec(rest);
  if (match === null) return { suffix: rest, noiseSuffix: null };
  const noiseFrom = match.index + match[0].length;
  const noiseTo = findStringEnd(rest, noiseFrom, rest.length);
  return noiseTo < 0
    ? { suffix: rest, noiseSuffix: null }
    : { suffix: rest.slice(0, noiseFrom), noiseSuffix: rest.slice(noiseTo) };
}

/** The piece that the data between `from` and `to` makes, or `null` where it differs from the template. */
export function fillTemplate(template: ChunkTemplate, text: string, from: number, to: number): ChatPiece | null {
  if (!standsAt(template.prefix, text, from)) return null;
  const textFrom = from + template.prefix.length;
  const textTo = findStringEnd(text, textFrom, to);
  if (textTo < 0 || !standsAt(template.suffix, text, textTo)) return null;
  let end = textTo + template.suffix.length;
  if (template.noiseSuffix !== null) {
    end = findStringEnd(text, end, to);
    if (end < 0 || !standsAt(template.noiseSuffix, text, end)) return null;
    end += template.noiseSuffix.length;
  }
  if (end !== to) return null;
  const written = text.slice(textFrom, textTo);
  return { choices: template.cleanPrefix + written + template.cleanSuffix, text: written };
}

/** As `startsWith`, which is several times slower. */
function standsAt(part: string, text: string, at: number): boolean {
  return text.slice(at, at + part.length) === part;
}

const quote = 0x22;
const backslash = 0x5c;
const escapePattern = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;

/** Where the JSON string that begins at `from` has its closing quote; -1 where it is malformed or goes beyond `to`. */
function findStringEnd(text: string, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code < 0x20) return -1;
    if (code === backslash) {
      escapePattern.lastIndex = at + 1;
      if (!escapePattern.test(text)) return -1;
      at = escapePattern.lastIndex - 1;
    }
  }
  return -1;
}
