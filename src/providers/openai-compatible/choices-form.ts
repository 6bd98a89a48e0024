import type { ChatPiece } from "../contract.ts";
import { parseJson } from "./json-value.ts";
import { readChoices } from "./read-chunk.ts";
import type { CleanChunkChoice } from "./sanitise-choice.ts";
import { findStringEnd } from "./scan-json.ts";

/** How an upstream writes choices that differ in nothing but a text, and how we do. */
export type ChoicesForm = {
  /** Up to and with the quote that opens the text. */
  prefix: string;
  /** From the quote that closes the text. */
  suffix: string;
  cleanPrefix: string;
  cleanSuffix: string;
  /** Which choices they are. */
  indexes: readonly number[];
  /** The field of the first choice that the text is, where there is nothing else. */
  soleField: NonNullable<ChatPiece["soleField"]> | null;
};

const textPattern = /"(?:content|reasoning_content|reasoning|arguments)"\s*:\s*"(?!")/;
/** Two characters that no model writes, as they stand in JSON and as they are. */
const probe = "\\u001a\\u001a";
const probeText = "\u001a\u001a";
const formCharactersMax = 1024;

/** Whether there seems to be anything to learn from. */
export function hasText(data: string): boolean {
  return textPattern.test(data);
}

/**
 * Learns from choices that have some text and nothing else of interest, or returns `null`. Whatever the place of the text
 * is believed to be, another text is put there and read the slow way: only if exactly this text comes out, once, is the
 * place the right one. Any string of JSON may stand where a string of JSON stood, so this then holds for all texts.
 */
export function learnForm(choices: string): ChoicesForm | null {
  const match = textPattern.exec(choices);
  if (match === null) return null;
  const textFrom = match.index + match[0].length;
  const textTo = findStringEnd(choices, textFrom, choices.length);
  if (textTo < 0 || choices.length - (textTo - textFrom) > formCharactersMax) return null;
  const prefix = choices.slice(0, textFrom);
  const suffix = choices.slice(textTo);
  const probed = readChoices(parseJson(prefix + probe + suffix));
  if (probed.text !== probeText || probed.choices.some(({ finish_reason: reason }) => reason !== null)) return null;
  const [cleanPrefix, cleanSuffix, ...more] = JSON.stringify(probed.choices).split(probe);
  if (cleanPrefix === undefined || cleanSuffix === undefined || more.length > 0) return null;
  return {
    prefix: copyText(prefix),
    suffix: copyText(suffix),
    cleanPrefix: copyText(cleanPrefix),
    cleanSuffix: copyText(cleanSuffix),
    indexes: probed.choices.map(({ index }) => index),
    soleField: findSoleField(probed.choices),
  };
}

/** The one field of a choice that has the probed text; beside it stand only a role and what is empty. */
function findSoleField([choice, ...others]: readonly CleanChunkChoice[]): ChoicesForm["soleField"] {
  if (choice === undefined || others.length > 0 || choice.index !== 0 || choice.logprobs !== undefined) return null;
  const { role: _, ...fields } = choice.delta;
  const said = Object.entries(fields).filter(([, value]) => value !== null && value !== "");
  const [[field, value] = []] = said;
  if (said.length !== 1 || value !== probeText) return null;
  return field === "content" || field === "reasoning_content" ? field : null;
}

/** A text of its own: one that is part of another keeps the other in memory. */
function copyText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

function isOfForm({ prefix, suffix }: ChoicesForm, choices: string): boolean {
  if (choices.slice(0, prefix.length) !== prefix) return false;
  const textTo = findStringEnd(choices, prefix.length, choices.length);
  return textTo >= 0 && choices.slice(textTo) === suffix;
}

/** The forms in which one upstream writes choices, remembered from one answer to the next. */
export type KnownForms = {
  find(choices: string): ChoicesForm | null;
  add(form: ChoicesForm): void;
};

const formsMax = 16;

/** A form that is found again moves up, and a new one takes the last place: what is seen once pushes out nothing else. */
export function createKnownForms(): KnownForms {
  const forms: ChoicesForm[] = [];
  return {
    find(choices) {
      const at = forms.findIndex((form) => isOfForm(form, choices));
      const found = forms[at];
      const above = forms[at - 1];
      if (found === undefined) return null;
      if (above !== undefined) {
        forms[at - 1] = found;
        forms[at] = above;
      }
      return found;
    },
    add(form) {
      if (forms.length < formsMax) forms.push(form);
      else forms[formsMax - 1] = form;
    },
  };
}
