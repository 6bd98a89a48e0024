import type { ChatPiece } from "../contract.ts";
import type { ChoicesForm } from "./choices-form.ts";
import type { ChunkEnvelope } from "./chunk-envelope.ts";
import { findStringEnd } from "./scan-json.ts";

/**
 * The chunks of an answer differ in little but their text. With the known text before and after it, the next chunk
 * becomes a piece without parsing.
 */
export type ChunkTemplate = {
  prefix: string;
  /** With padding, up to and including the quote that opens it. */
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

/** The piece of the data between `from` and `to`; `null` if it does not match the template. */
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
    isUnfinished: true,
  };
  if (template.soleField !== null) piece.soleField = template.soleField;
  return piece;
}

/** Like `startsWith`, which is several times slower. */
function standsAt(part: string, text: string, at: number): boolean {
  return text.slice(at, at + part.length) === part;
}
