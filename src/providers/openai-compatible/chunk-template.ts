import type { ChatPiece } from "../contract.ts";
import type { ChoicesForm } from "./choices-form.ts";
import type { ChunkEnvelope } from "./chunk-envelope.ts";
import { findStringEnd } from "./scan-json.ts";

/**
 * The chunks of an answer differ in little but their text, so what was learned from some of them tells how to turn the
 * next into a piece without parsing it: what stands before the text and after it is known, in theirs and in ours.
 */
export type ChunkTemplate = {
  prefix: string;
  /** Where there is noise, up to and with the quote that opens it. */
  suffix: string;
  noiseSuffix: string | null;
  cleanPrefix: string;
  cleanSuffix: string;
  soleField: ChoicesForm["soleField"];
};

export function createTemplate(envelope: ChunkEnvelope, form: ChoicesForm): ChunkTemplate {
  return {
    prefix: envelope.head + form.prefix,
    suffix: form.suffix + envelope.tail,
    noiseSuffix: envelope.noiseTail,
    cleanPrefix: form.cleanPrefix,
    cleanSuffix: form.cleanSuffix,
    soleField: form.soleField,
  };
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
  const piece: ChatPiece = {
    choices: template.cleanPrefix + written + template.cleanSuffix,
    text: written,
    isGoingOn: true,
  };
  if (template.soleField !== null) piece.soleField = template.soleField;
  return piece;
}

/** As `startsWith`, which is several times slower. */
function standsAt(part: string, text: string, at: number): boolean {
  return text.slice(at, at + part.length) === part;
}
