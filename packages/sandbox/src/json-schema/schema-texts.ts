import { samplePattern } from "./pattern-text.ts";
import type { SampleHints } from "./sample-hints.ts";
import { fitsPart } from "./schema-fit.ts";
import {
  getPattern,
  listNumbers,
  listTexts,
  SchemaObstacleError,
  type SchemaPart,
  type SchemaScope,
} from "./schema-parts.ts";

const textCharactersMax = 4000;
const extraRepeats = [0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64];

/** A text of each format that is known, and what tells texts of the format from others. */
const formats: Record<string, { sample: string; pattern: RegExp }> = {
  date: { sample: "2026-01-15", pattern: /^\d{4}-\d{2}-\d{2}$/ },
  "date-time": { sample: "2026-01-15T12:00:00Z", pattern: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/ },
  time: { sample: "12:00:00Z", pattern: /^\d{2}:\d{2}:\d{2}Z$/ },
  duration: { sample: "PT30M", pattern: /^PT\d+M$/ },
  email: { sample: "someone@example.com", pattern: /^[^@\s]+@[^@\s]+$/ },
  hostname: { sample: "www.example.com", pattern: /^[a-z.]+$/ },
  ipv4: { sample: "192.0.2.1", pattern: /^[\d.]+$/ },
  ipv6: { sample: "2001:db8::1", pattern: /^[\da-f:]+$/ },
  uri: { sample: "https://example.com/", pattern: /^https?:/ },
  url: { sample: "https://example.com/", pattern: /^https?:/ },
  uuid: { sample: "6f1c2d3e-4b5a-4c6d-8e7f-9a0b1c2d3e4f", pattern: /^[\da-f]{8}-/ },
};

/** Which hint belongs into a field of which name. */
const hintsByName: [name: RegExp, choose: (hints: SampleHints) => string | null | readonly string[]][] = [
  [/mail/i, ({ mail }) => mail],
  [/url|link|website/i, ({ url }) => url],
  [/date|day/i, ({ date }) => date],
  [/city|country|location|place|town|name|person|origin|destination|^from$|^to$/i, ({ names }) => names],
  [/answer|result|summary|reply|explanation|description/i, ({ answer }) => answer],
  [/query|question|text|prompt|message|input|topic|content|body|expression/i, ({ question }) => question],
];

export type TextWish = { name: string; hints: SampleHints; takeName: (names: readonly string[]) => string | null };

/** A text that fits all parts: something from the prompt where the field's name suggests it, else words of the name. */
export function sampleText(parts: readonly SchemaPart[], wish: TextWish, scope: SchemaScope): string {
  for (const candidate of listCandidates(parts, wish, scope)) {
    if (hasFormats(parts, candidate) && parts.every((part) => fitsPart(part, candidate, scope))) return candidate;
  }
  throw new SchemaObstacleError("This model found no text for one of the fields in the schema.");
}

function* listCandidates(parts: readonly SchemaPart[], wish: TextWish, scope: SchemaScope): Generator<string> {
  const hint = chooseHint(wish);
  if (hint !== null && hint !== "") yield hint;
  for (const format of listTexts(parts, "format")) {
    const known = Object.hasOwn(formats, format) ? formats[format] : undefined;
    if (known !== undefined) yield known.sample;
  }
  const lengthMin = Math.max(0, ...listNumbers(parts, "minLength"));
  if (lengthMin > textCharactersMax) throw new SchemaObstacleError("The schema asks for a text that is too long.");
  for (const text of listTexts(parts, "pattern")) {
    const pattern = getPattern(text, scope);
    const shortest = samplePattern(pattern, 0)?.length ?? 0;
    for (const extra of [...extraRepeats, Math.max(0, lengthMin - shortest)]) {
      const sample = samplePattern(pattern, extra);
      if (sample !== null) yield sample;
    }
  }
  yield writeWords(wish.name, lengthMin, Math.min(textCharactersMax, ...listNumbers(parts, "maxLength")));
}

function chooseHint({ name, hints, takeName }: TextWish): string | null {
  const choose = hintsByName.find(([pattern]) => pattern.test(name))?.[1];
  const hint = choose?.(hints) ?? null;
  return hint === null || typeof hint === "string" ? hint : takeName(hint);
}

function hasFormats(parts: readonly SchemaPart[], text: string): boolean {
  return listTexts(parts, "format").every(
    (format) => !Object.hasOwn(formats, format) || formats[format]?.pattern.test(text),
  );
}

/** "postalCode" becomes "postal code", repeated or cut to the length that is asked for. */
function writeWords(name: string, lengthMin: number, lengthMax: number): string {
  const words = name
    .slice(0, 60)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[_\s-]+/g, " ")
    .trim()
    .toLowerCase();
  const signs = Array.from(words === "" ? "sample" : words);
  if (signs.length >= lengthMin) return signs.slice(0, lengthMax).join("");
  return Array.from({ length: lengthMin }, (_, index) => [...signs, " "][index % (signs.length + 1)]).join("");
}
