import { describe, expect, test } from "vitest";
import { findCommand, loadAllCommands } from "./commands.ts";
import { presentCommandHelp, presentFlag, presentHelp } from "./present-help.ts";

const commands = await loadAllCommands();

function listOptions(command: (typeof commands)[number]) {
  return Object.entries(command.options ?? {}).map(([name, option]) => ({
    ...option,
    flag: presentFlag(name, option),
  }));
}

test("the table contains the documented commands", () => {
  const names = commands.map((command) => command.name);
  expect(names).toEqual(expect.arrayContaining(["serve", "migrate", "doctor", "account create", "key create"]));
  expect(new Set(names).size).toBe(names.length);
});

test.each([[], ["toString"], ["key"], ["key", "creat"]])("%j finds no command", async (...words) => {
  expect(await findCommand(words)).toBeNull();
});

describe.each(commands)("$name", (command) => {
  test("is found by its name, with any arguments", async () => {
    expect(await findCommand([...command.name.split(" "), "--json"])).toBe(command);
  });

  const lines = presentHelp(commands).split("\n");

  test("has one line in the help: name, required options and summary", () => {
    const required = listOptions(command).filter((option) => option.isRequired === true);
    const words = (command.positionals ?? []).map((word) => `<${word}>`);
    const usage = [command.name, ...words, ...required.map((option) => option.flag)].join(" ");
    const own = lines.filter((line) => line.startsWith(`  ${usage} `) && line.endsWith(`  ${command.summary}`));
    expect(own).toHaveLength(1);
  });

  test("has its own help with every option", () => {
    const ownLines = presentCommandHelp(command).split("\n");
    expect(ownLines[0]).toBe(command.summary);
    for (const { flag, description, isRequired } of listOptions(command)) {
      const line = ownLines.find((candidate) => candidate.startsWith(`  ${flag} `));
      expect(line?.endsWith(isRequired === true ? `${description} (required)` : description), flag).toBe(true);
    }
    expect(ownLines.at(-1)).toMatch(/^ {2}--json /);
  });
});

test("summaries are aligned", () => {
  const lines = presentHelp(commands).split("\n");
  const columns = commands.map(({ summary }) => lines.find((line) => line.endsWith(summary))?.indexOf(summary));
  expect(new Set(columns).size).toBe(1);
});

test("the usage contains only required options", () => {
  const help = presentHelp(commands);
  expect(help).toContain("account create --email <address> ");
  expect(help).toContain("key create --account <account id> ");
  expect(help).toContain("key revoke <key id> ");
  expect(help).not.toContain("--password");
});
