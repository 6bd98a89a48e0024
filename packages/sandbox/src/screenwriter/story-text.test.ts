import fc from "fast-check";
import { expect, test } from "vitest";
import { detectStoryLanguage } from "./story-language.ts";
import {
  cutText,
  cutToLength,
  estimateSpeechSeconds,
  joinText,
  splitSpeech,
  splitStory,
  writeSentence,
} from "./story-text.ts";

test("sentences end where a reader would stop", () => {
  expect(splitStory('Mr. Smith paid 3.50. "Why?" he asked. Then… nothing! 他走了。她笑了！')).toEqual([
    "Mr. Smith paid 3.50.",
    '"Why?" he asked.',
    "Then… nothing!",
    "他走了。",
    "她笑了！",
  ]);
  expect(splitStory("")).toEqual([]);
});

test("speech takes as long as its letters, and longer for dense scripts", () => {
  expect(estimateSpeechSeconds("")).toBeCloseTo(0.6);
  expect(estimateSpeechSeconds("a".repeat(28))).toBeCloseTo(2.6);
  expect(estimateSpeechSeconds("海".repeat(9))).toBeCloseTo(2.6);
});

test("a text is cut after a sentence, else after a word, never within one", () => {
  expect(cutToLength("One two. Three four five.", 15)).toBe("One two.");
  expect(cutToLength("Extraordinary circumstances prevail", 20)).toBe("Extraordinary…");
  expect(cutToLength("Extraordinary", 5)).toBe("");
  expect(cutToLength("我们明天去海边散步吧", 6)).toMatch(/^我们明天去?…$/u);
});

test("the parts of a long speech are short and lose nothing", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 400 }), { maxLength: 8 }), (texts) => {
      const text = texts.join(". ").trim();
      const parts = splitSpeech(text);
      for (const part of parts) expect(part.length).toBeLessThanOrEqual(260);
      expect(parts.join("").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
      expect(parts.every((part) => part.isWellFormed())).toBe(true);
    }),
  );
});

test("a word that is too long is cut, but no character is", () => {
  const parts = splitSpeech(`☃${"😀".repeat(300)}`);
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.every((part) => part.isWellFormed())).toBe(true);
});

test("a cut text is the start of the text, and fits", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.nat(200), (text, max) => {
      const cut = cutText(text, (part) => part.length <= max);
      expect(cut.length).toBeLessThanOrEqual(Math.max(max, text.length <= max ? text.length : 0));
      const words = cut.replace(/…$/u, "").replaceAll(/\s/g, "");
      expect(text.replaceAll(/\s/g, "").startsWith(words)).toBe(true);
    }),
  );
});

test("scripts without spaces are joined without them, and sentences end in their script's way", () => {
  expect(joinText("他走了。", "她笑了。")).toBe("他走了。她笑了。");
  expect(joinText("One.", "Two.")).toBe("One. Two.");
  expect(writeSentence("a kitchen")).toBe("A kitchen.");
  expect(writeSentence("咖啡馆")).toBe("咖啡馆。");
  expect(writeSentence("Really?")).toBe("Really?");
});

test.each([
  ["en", "The house is on the hill and she waits."],
  ["und", "Das Haus ist auf dem Berg und sie wartet nicht."],
  ["und", "La maison est dans la forêt et elle attend avec vous."],
  ["zh", "INT. 咖啡馆 小明走进来，看见小红。"],
  ["und", "花子は公園で待っていた。"],
  ["und", "안녕하세요, 반가워요."],
  ["und", "دخلت سارة المقهى"],
  ["und", "Анна вошла в дом."],
  ["und", "สวัสดีครับ"],
  ["en", "Anna met 小明 in the café and they talked about the weather all day."],
  ["en", "🐱🚀"],
])("%s is detected by letters and common words: %s", (language, text) => {
  expect(detectStoryLanguage(text)).toBe(language);
});
