import { asRecord, parseJson } from "./json-value.ts";
import { readReportedUsage } from "./read-usage.ts";
import { findBracketEnd, findStringEnd } from "./scan-json.ts";

/**
 * The text around a chunk's choices, the same in nearly all chunks of an answer. Some vendors add padding at the end,
 * so that lengths do not reveal texts.
 */
export type ChunkEnvelope = {
  /** Up to the start of the choices. */
  head: string;
  /** From the end of the choices; with padding, up to and including the quote that opens it. */
  tail: string;
  /** From the quote that closes the padding; `null` without padding. */
  noiseTail: string | null;
};

const choicesPattern = /"choices"\s*:\s*(?=\[)/;
const noisePattern = /"(?:obfuscation|p)"\s*:\s*"/;
/** A value that no vendor sends, in JSON and decoded. */
const probe = '"\\u001a"';
const probeValue = "\u001a";

/**
 * Learns from a chunk, or returns `null`. To verify the choices' place, puts the probe there and parses the chunk: the
 * place is right only if exactly the probe comes out, without an error or usage. Any JSON value may replace another, so
 * this then holds for all choices.
 */
export function learnEnvelope(data: string): ChunkEnvelope | null {
  const match = choicesPattern.exec(data);
  if (match === null) return null;
  const choicesFrom = match.index + match[0].length;
  const choicesTo = findBracketEnd(data, choicesFrom);
  if (choicesTo < 0) return null;
  const probed = data.slice(0, choicesFrom) + probe + data.slice(choicesTo);
  const chunk = asRecord(parseJson(probed));
  if (chunk?.choices !== probeValue || (chunk.error ?? null) !== null || readReportedUsage(chunk) !== null) return null;
  // Slices of the probe, not of the data, which would keep the text of a whole read in memory.
  return { head: probed.slice(0, choicesFrom), ...splitNoise(probed.slice(choicesFrom + probe.length)) };
}

function splitNoise(rest: string): Pick<ChunkEnvelope, "tail" | "noiseTail"> {
  const match = noisePattern.exec(rest);
  if (match === null) return { tail: rest, noiseTail: null };
  const noiseFrom = match.index + match[0].length;
  const noiseTo = findStringEnd(rest, noiseFrom, rest.length);
  return noiseTo < 0
    ? { tail: rest, noiseTail: null }
    : { tail: rest.slice(0, noiseFrom), noiseTail: rest.slice(noiseTo) };
}

/** The text in the place of the choices, valid or not; `null` if the chunk has another envelope. */
export function cutChoices({ head, tail, noiseTail }: ChunkEnvelope, data: string): string | null {
  if (data.slice(0, head.length) !== head) return null;
  let tailAt = data.length - tail.length;
  if (noiseTail !== null) {
    tailAt = data.lastIndexOf(tail);
    const noiseTo = findStringEnd(data, tailAt + tail.length, data.length);
    if (tailAt < 0 || noiseTo < 0 || data.slice(noiseTo) !== noiseTail) return null;
  }
  return tailAt >= head.length && data.slice(tailAt, tailAt + tail.length) === tail
    ? data.slice(head.length, tailAt)
    : null;
}
