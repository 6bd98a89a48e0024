import type { ChatPiece } from "../contract.ts";
import { parseJson } from "./json-value.ts";
import { readChoices } from "./read-chunk.ts";
import type { CleanChunkChoice } from "./sanitise-choice.ts";
import { findStringEnd } from "./scan-json.ts";

/** How an upstream writes choices that differ only in a text, and how we do. */
export type ChoicesForm = {
  /** Up to and including the quote that opens the text. */
  prefix: string;
  /** From the quote that closes the text. */
  suffix: string;
  cleanPrefix: string;
  cleanSuffix: string;
  /** The indexes of these choices. */
  indexes: readonly number[];
  /** The only field of the first choice, if there is nothing else. */
  soleField: NonNullable<ChatPiece["soleField"]> | null;
};

const textPattern = /"(?:content|reasoning_content|reasoning|arguments)"\s*:\s*"(?!")/;
/** Two characters that no model writes, in JSON and decoded. */
const probe = "\\u001a\\u001a";
const probeText = "\u001a\u001a";
const formCharactersMax = 1024;

/** Whether there may be something to learn. */
export function hasText(data: string): boolean {
  return textPattern.test(data);
}

/**
 * Learns from choices with only a text, or returns `null`. To verify the text's place, puts the probe there and parses
 * it: the place is right only if exactly the probe comes out, once. Any JSON string may replace another, so this then
 * holds for all texts.
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

/** The field with the probe, if the choice has nothing else but a role and empty fields. */
function findSoleField([choice, ...others]: readonly CleanChunkChoice[]): ChoicesForm["soleField"] {
  if (choice === undefined || others.length > 0 || choice.index !== 0 || choice.logprobs !== undefined) return null;
  const { role: _, ...fields } = choice.delta;
  const said = Object.entries(fields).filter(([, value]) => value !== null && value !== "");
  const [[field, value] = []] = said;
  if (said.length !== 1 || value !== probeText) return null;
  return field === "content" || field === "reasoning_content" ? field : null;
}

/** A copy: a slice would keep the whole original string in memory. */
function copyText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

function isOfForm({ prefix, suffix }: ChoicesForm, choices: string): boolean {
  if (choices.slice(0, prefix.length) !== prefix) return false;
  const textTo = findStringEnd(choices, prefix.length, choices.length);
  return textTo >= 0 && choices.slice(textTo) === suffix;
}

/** The forms of one upstream, remembered across answers. */
export type KnownForms = {
  find(choices: string): ChoicesForm | null;
  add(form: ChoicesForm): void;
};

const formsMax = 16;

/** A form that is found again moves up, and a new one takes the last place, so one-off forms evict nothing else. */
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
