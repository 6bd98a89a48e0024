import { expect, test } from "vitest";
import { findVoice, guessLanguage, voiceNames } from "./voices.ts";

test.each([
  ["Hello world", "en-us"],
  ["Das ist nicht gut, und ich bin hier.", "de"],
  ["Le chat est dans la maison", "fr-fr"],
  ["你好世界", "cmn"],
  ["漢字とかな", "ja"],
  ["안녕하세요", "ko"],
  ["Привет", "ru"],
  ["Привіт, світе її", "uk"],
  ["مرحبا", "ar"],
  ["سلام چطوری", "fa"],
  ["שלום", "he"],
  ["Γειά", "el"],
  ["नमस्ते", "hi"],
])("%j is spoken as %s", (text, language) => {
  expect(guessLanguage(text)).toBe(language);
});

test("voices are found by their names only", () => {
  expect(voiceNames).toEqual(expect.arrayContaining(["alloy", "echo", "nova"]));
  expect(findVoice("nova")).not.toBeNull();
  expect(findVoice("constructor")).toBeNull();
});
