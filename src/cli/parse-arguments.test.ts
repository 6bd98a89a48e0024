import { expect, test } from "vitest";
import type { Command } from "./command.ts";
import { parseArguments } from "./parse-arguments.ts";
import { UsageError } from "./usage-error.ts";

const command: Command = {
  name: "credit adjust",
  summary: "",
  positionals: ["account id", "amount"],
  options: {
    reason: { placeholder: "text", description: "", isRequired: true },
    limit: { placeholder: "number", description: "" },
    whole: { placeholder: null, description: "" },
  },
  run: async () => null,
};

test("arguments and options may come in any order, and a negative amount is not an option", () => {
  const expected = { positionals: ["acct_1", "-5"], options: { reason: "a slip", limit: "-1" } };
  expect(parseArguments(command, ["acct_1", "-5", "--reason", "a slip", "--limit", "-1", "--json"])).toEqual(expected);
  expect(parseArguments(command, ["--reason=a slip", "--limit=-1", "acct_1", "-5"])).toEqual(expected);
});

test("a flag takes no value", () => {
  const expected = { positionals: ["acct_1", "5"], options: { reason: "x", whole: "" } };
  expect(parseArguments(command, ["--reason", "x", "--whole", "acct_1", "5"])).toEqual(expected);
});

test.each([
  [["a", "1", "--reason", "x", "--whole=yes"], "--whole takes no value."],
  [["a", "1", "--raeson", "x"], "Unknown option --raeson. Did you mean --reason?"],
  [["a", "1", "--unheard", "x"], "Unknown option --unheard."],
  [["a", "1", "--toString"], "Unknown option --toString."],
  [["a", "1", "-r", "x"], "Unknown option -r."],
  [["a", "1", "--reason"], "--reason needs a value: --reason <text>."],
  [
    ["a", "1", "--reason", "--limit", "1"],
    '--reason needs a value, but "--limit" is an option. To use it as the value: --reason=--limit',
  ],
  [["a", "1", "--reason", "x", "--json=yes"], "--json takes no value."],
  [["a", "1"], "--reason is required."],
  [["a", "--reason", "x"], "Missing argument. Usage: credit adjust <account id> <amount>"],
  [["a", "1", "b", "--reason", "x"], 'Unexpected argument "b".'],
])("%j is rejected with our message", (words, sentence) => {
  let thrown: unknown;
  try {
    parseArguments(command, words);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(UsageError);
  expect(thrown).toMatchObject({
    message: sentence,
    remedy: "See: npm run -s sluice -- credit adjust --help",
  });
});
