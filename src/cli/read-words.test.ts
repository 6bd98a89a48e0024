import { expect, test } from "vitest";
import type { Command } from "./command.ts";
import { MisuseError } from "./misuse-error.ts";
import { readWords } from "./read-words.ts";

const command: Command = {
  name: "credit adjust",
  summary: "",
  positionals: ["account id", "amount"],
  options: {
    reason: { placeholder: "text", explains: "", isRequired: true },
    limit: { placeholder: "number", explains: "" },
    whole: { placeholder: null, explains: "" },
  },
  run: async () => null,
};

test("words and options come in any order, and a negative amount is no option", () => {
  const expected = { positionals: ["acct_1", "-5"], options: { reason: "a slip", limit: "-1" } };
  expect(readWords(command, ["acct_1", "-5", "--reason", "a slip", "--limit", "-1", "--json"])).toEqual(expected);
  expect(readWords(command, ["--reason=a slip", "--limit=-1", "acct_1", "-5"])).toEqual(expected);
});

test("an option without a value is there or not, and takes no word after it", () => {
  const expected = { positionals: ["acct_1", "5"], options: { reason: "x", whole: "" } };
  expect(readWords(command, ["--reason", "x", "--whole", "acct_1", "5"])).toEqual(expected);
});

test.each([
  [["a", "1", "--reason", "x", "--whole=yes"], "--whole takes no value."],
  [["a", "1", "--raeson", "x"], "There is no option --raeson. Did you mean --reason?"],
  [["a", "1", "--unheard", "x"], "There is no option --unheard."],
  [["a", "1", "--toString"], "There is no option --toString."],
  [["a", "1", "-r", "x"], "There is no option -r."],
  [["a", "1", "--reason"], "--reason needs a value: --reason <text>."],
  [
    ["a", "1", "--reason", "--limit", "1"],
    '--reason needs a value, and "--limit" is an option. Where it is the value: --reason=--limit',
  ],
  [["a", "1", "--reason", "x", "--json=yes"], "--json takes no value."],
  [["a", "1"], "--reason is required."],
  [["a", "--reason", "x"], "Something is missing. Write <account id> <amount>."],
  [["a", "1", "b", "--reason", "x"], '"b" is a word too many.'],
])("%j is refused in a sentence of ours", (words, sentence) => {
  let thrown: unknown;
  try {
    readWords(command, words);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(MisuseError);
  expect(thrown).toMatchObject({
    message: sentence,
    remedy: "See: npm run -s sluice -- credit adjust --help",
  });
});
