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
  const textTo = findTextEnd(template, text, from, to);
  if (textTo < 0 || findEnd(template, text, textTo, to) !== to) return null;
  return createPiece(template, text.slice(from + template.prefix.length, textTo));
}

/** Takes whole events in the usual framing, one line and an empty one. An object, so that a match allocates only its piece. */
export class EventTemplate {
  /** Where the last event ended. */
  end = 0;
  private readonly plain: ChunkTemplate;
  private readonly template: ChunkTemplate;

  constructor(plain: ChunkTemplate) {
    const { prefix, suffix, noiseSuffix, ...clean } = plain;
    this.plain = plain;
    const isNoisy = noiseSuffix !== null;
    this.template = {
      ...clean,
      prefix: `${eventStart}${prefix}`,
      suffix: isNoisy ? suffix : `${suffix}${eventEnd}`,
      noiseSuffix: isNoisy ? `${noiseSuffix}${eventEnd}` : null,
    };
  }

  /** The piece of an event in another framing, by its data. */
  fillData(text: string, from: number, to: number): ChatPiece | null {
    return fillTemplate(this.plain, text, from, to);
  }

  /** The piece of the event at `from`; `null` if it is another one. */
  fill(text: string, from: number): ChatPiece | null {
    const { template } = this;
    const textTo = findTextEnd(template, text, from, text.length);
    if (textTo < 0) return null;
    const end = findEnd(template, text, textTo, text.length);
    if (end < 0) return null;
    this.end = end;
    return createPiece(template, text.slice(from + template.prefix.length, textTo));
  }
}

const eventStart = "data: ";
const eventEnd = "\n\n";

function findTextEnd({ prefix }: ChunkTemplate, text: string, from: number, to: number): number {
  return standsAt(prefix, text, from) ? findStringEnd(text, from + prefix.length, to) : -1;
}

/** The end of the event whose text ends at `textTo`; `-1` if it goes on in another way. */
function findEnd({ suffix, noiseSuffix }: ChunkTemplate, text: string, textTo: number, to: number): number {
  if (!standsAt(suffix, text, textTo)) return -1;
  const end = textTo + suffix.length;
  if (noiseSuffix === null) return end;
  const noiseTo = findStringEnd(text, end, to);
  return noiseTo < 0 || !standsAt(noiseSuffix, text, noiseTo) ? -1 : noiseTo + noiseSuffix.length;
}

function createPiece({ cleanPrefix, cleanSuffix, soleField }: ChunkTemplate, written: string): ChatPiece {
  const piece: ChatPiece = { choices: cleanPrefix + written + cleanSuffix, text: written, isUnfinished: true };
  if (soleField !== null) piece.soleField = soleField;
  return piece;
}

/** Like `startsWith`, which is several times slower. */
function standsAt(part: string, text: string, at: number): boolean {
  return text.slice(at, at + part.length) === part;
}
