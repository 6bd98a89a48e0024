import { expect, test } from "vitest";
import { completeWord } from "./complete-word.ts";

test("a field's name is completed by the list that it is in", () => {
  const text = "prices:\n  - model: a\n    input_";
  expect(completeWord(text, text.length).text).toBe(`${text}price: `);
  const model = "models:\n  - id: a\n    upst";
  expect(completeWord(model, model.length).text).toBe(`${model}ream_model: `);
  expect(completeWord("cur", 3)).toEqual({ text: "currency: ", place: 10, others: [] });
});

test("several fields that fit are listed, and what they share is written", () => {
  const text = "prices:\n  - mi";
  expect(completeWord(text, text.length).text).toBe(`${text}nimum_charge: `);
  const both = "models:\n  - de";
  expect(completeWord(both, both.length)).toEqual({
    text: both,
    place: both.length,
    others: ["description", "deprecated_at"],
  });
});

test("a word that fits nothing stays", () => {
  const text = "prices:\n  - zzz";
  expect(completeWord(text, text.length)).toEqual({ text, place: text.length, others: [] });
});
