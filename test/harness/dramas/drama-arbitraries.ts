import fc from "fast-check";
import type { RolesAnswer, ScriptAnswer, StoryboardAnswer } from "../../../src/features/dramas/drama-answers.ts";
import { countRuns } from "../count-runs.ts";
import { unicodeText } from "../unicode-text.ts";

/** Enough runs to find a bug; shrinking is limited in time. */
export const propertyRuns = { numRuns: countRuns(200), interruptAfterTimeLimit: 20_000 };

/** Any text that a model may return: empty, blanks, lone surrogates, far too long. */
const anyText = fc.oneof(
  unicodeText({ maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.constantFrom("", "   ", "a\u0000b", "\ud800", "Anna", "  The end.  "),
  fc
    .tuple(fc.constantFrom("x", "😀", "中", "é "), fc.integer({ min: 90, max: 4200 }))
    .map(([sign, n]) => sign.repeat(n)),
);

/** Valid names, invalid ones, the narrator's, and names that differ only after the length limit. */
const anyName = fc.oneof(
  fc.constantFrom("Anna", "ANNA", " anna ", "Ａｎｎａ", "Ben", "Narrator", "旁白", "", "  ", "José", "José"),
  fc.integer({ min: 1, max: 70 }).map((number) => `Extra ${number}`),
  fc.constantFrom("a", "b", " ").map((end) => `${"n".repeat(100)}${end}`),
  anyText,
);

const anyLine = fc.record({ speaker: fc.option(anyName), text: anyText });

export const anyScriptAnswer: fc.Arbitrary<ScriptAnswer> = fc.record({
  language: fc.oneof(fc.constantFrom("en", "zh", "zh-Hans", "english", ""), anyText),
  logline: anyText,
  scenes: fc.array(
    fc.record({
      heading: anyText,
      place: anyText,
      time: anyText,
      action: anyText,
      lines: fc.array(anyLine, { maxLength: 30, size: "max" }),
    }),
    { maxLength: 8 },
  ),
});

export const anyRolesAnswer: fc.Arbitrary<RolesAnswer> = fc.record({
  narrator_voice: fc.constantFrom("alloy", "echo", "nobody", ""),
  roles: fc.array(
    fc.record({
      name: anyName,
      description: anyText,
      appearance: anyText,
      voice: fc.constantFrom("alloy", "echo", "nova", "nobody"),
    }),
    { maxLength: 60, size: "max" },
  ),
});

export const anyStoryboardAnswer: fc.Arbitrary<StoryboardAnswer> = fc.record({
  shots: fc.array(
    fc.record({
      scene: fc.constantFrom("scene-1", "scene-2", "scene-3", "nowhere", ""),
      prompt: anyText,
      camera: anyText,
      duration: fc.oneof(fc.double({ noNaN: true }), fc.integer({ min: -5, max: 50 })),
      characters: fc.array(anyName, { maxLength: 12 }),
      line_numbers: fc.array(fc.integer({ min: -3, max: 40 }), { maxLength: 12 }),
    }),
    { maxLength: 100, size: "max" },
  ),
});

/** The names that a caller gives: already validated, so no two of them are equal. */
export const anyCharacters = fc
  .uniqueArray(
    fc.oneof(
      fc.constantFrom("Anna", "Ben"),
      fc.integer({ min: 1, max: 60 }).map((n) => `Extra ${n}`),
    ),
    {
      maxLength: 40,
      size: "max",
    },
  )
  .map((names) => names.map((name) => ({ name, referenceFileId: null })));
