import { samplePattern } from "./pattern-sample.ts";
import type { SampleHints } from "./sample-hints.ts";
import {
  isSpent,
  listNumbers,
  SchemaObstacleError,
  type SchemaPart,
  type SchemaScope,
  spendSteps,
} from "./schema-rules.ts";

const textCharactersMax = 4000;
/** A pattern takes longer to process than most of a schema. */
const patternSteps = 100;
const placesOfRepeats = [4, 3, 2, 1];

/** A value for each known format: from the prompt, or a default. */
const formats = new Map<unknown, (hints: SampleHints) => string>([
  ["date", ({ date }) => date ?? "2026-01-15"],
  ["date-time", () => "2026-01-15T12:00:00Z"],
  ["time", () => "12:00:00Z"],
  ["duration", () => "PT30M"],
  ["email", ({ mail }) => mail ?? "someone@example.com"],
  ["hostname", () => "www.example.com"],
  ["ipv4", () => "192.0.2.1"],
  ["ipv6", () => "2001:db8::1"],
  ["uri", ({ url }) => url ?? "https://example.com/"],
  ["url", ({ url }) => url ?? "https://example.com/"],
  ["uuid", () => "6f1c2d3e-4b5a-4c6d-8e7f-9a0b1c2d3e4f"],
]);

/** Candidate texts, best first: by format, else by pattern, else the hint, else words from the field's name. */
export function listTexts(
  parts: readonly SchemaPart[],
  { name, hints, hint }: { name: string; hints: SampleHints; hint: string | null },
  scope: SchemaScope,
): string[] {
  const lengthMin = Math.max(0, ...listNumbers(parts, "minLength"));
  if (lengthMin > textCharactersMax) throw new SchemaObstacleError("The schema asks for a text that is too long.");
  const lengthMax = Math.min(textCharactersMax, ...listNumbers(parts, "maxLength"));
  const ofFormat = parts.flatMap(({ format }) => formats.get(format)?.(hints) ?? []);
  const ofPattern = parts.flatMap(({ pattern }) =>
    typeof pattern === "string" ? listMatches(pattern, lengthMin, scope) : [],
  );
  const free = ofFormat.length > 0 ? [] : [hint ?? "", writeWords(name, lengthMin, lengthMax)].filter(Boolean);
  return [...ofFormat, ...ofPattern, ...free, ...(ofFormat.length > 0 ? [] : [""])];
}

/** The shortest text; if that is too short, longer ones with up to so many repeats. */
function listMatches(pattern: string, lengthMin: number, scope: SchemaScope): string[] {
  const texts = scope.matches.get(pattern) ?? new Set([makeMatch(0)]);
  scope.matches.set(pattern, texts);
  const missing = lengthMin - Math.max(...[...texts].map((text) => text.length));
  for (const places of missing > 0 ? placesOfRepeats : []) {
    try {
      texts.add(makeMatch(Math.ceil(missing / places)));
    } catch (error) {
      // It may be too long with this many repeats.
      if (isSpent(scope)) throw error;
    }
  }
  return [...texts];

  function makeMatch(extra: number): string {
    spendSteps(scope, patternSteps);
    return samplePattern(pattern, extra);
  }
}

/** "postalCode" becomes "postal code", repeated or cut to the requested length. */
function writeWords(name: string, lengthMin: number, lengthMax: number): string {
  const spaced = name.slice(0, 60).replace(/([a-z])([A-Z])/g, "$1 $2");
  const words = spaced
    .replace(/[_\s-]+/g, " ")
    .trim()
    .toLowerCase();
  const signs = Array.from(`${words === "" ? "sample" : words} `);
  if (signs.length > lengthMin) return signs.slice(0, Math.min(signs.length - 1, lengthMax)).join("");
  return Array.from({ length: lengthMin }, (_, index) => signs[index % signs.length]).join("");
}

/** Candidate numbers: the hint, then small ones, then those near a bound. */
export function listNumbersToTry(parts: readonly SchemaPart[], hint: number | undefined, isInteger: boolean): number[] {
  const steps = [...listNumbers(parts, "multipleOf"), ...(isInteger ? [1] : [])];
  // A common multiple, not always the least.
  const step = steps.reduce((product, each) => (Number.isInteger(product / each) ? product : product * each), 1);
  const bounds = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"].flatMap((keyword) =>
    listNumbers(parts, keyword),
  );
  const middle = bounds.length === 0 ? [] : [(Math.min(...bounds) + Math.max(...bounds)) / 2];
  const near = [...bounds, ...middle].flatMap((bound) => {
    const multiple = Math.round(bound / step) * step;
    return [bound, multiple, multiple + step, multiple - step, bound + 0.5, bound - 0.5];
  });
  // Turns -0 into 0: JSON has no negative zero.
  return [hint ?? 1, 1, 0, step, ...near].filter(Number.isFinite).map((number) => number + 0);
}
