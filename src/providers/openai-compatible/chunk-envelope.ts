import { asRecord, parseJson } from "./json-value.ts";
import { readReportedUsage } from "./read-usage.ts";
import { findBracketEnd, findStringEnd } from "./scan-json.ts";

/**
 * What stands around the choices of a chunk, which is the same in nearly all chunks of an answer. Some vendors add noise
 * at the end, against those who guess texts by their length.
 */
export type ChunkEnvelope = {
  /** Up to where the choices begin. */
  head: string;
  /** From where the choices end; where there is noise, up to and with the quote that opens it. */
  tail: string;
  /** From the quote that closes the noise, or `null` where there is none. */
  noiseTail: string | null;
};

const choicesPattern = /"choices"\s*:\s*(?=\[)/;
const noisePattern = /"(?:obfuscation|p)"\s*:\s*"/;
/** A value that no vendor sends, as it stands in JSON and as it is. */
const probe = '"\\u001a"';
const probeValue = "\u001a";

/**
 * Learns from a chunk, or returns `null`. Whatever the place of the choices is believed to be, something else is put
 * there and read: only if exactly this comes out, and neither an error nor usage with it, is the place the right one.
 * Any value of JSON may stand where a value of JSON stood, so this then holds for all choices.
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
  // Parts of the probe, which is a text of its own: parts of the data would keep the text of a whole read in memory.
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

/** What stands in the place of the choices, be it valid or not; `null` where the chunk has another envelope. */
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
