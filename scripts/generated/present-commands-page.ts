import type { Command } from "../../src/cli/command.ts";
import { loadAllCommands } from "../../src/cli/commands.ts";
import { presentFlag, presentUsage } from "../../src/cli/present-help.ts";

/** Generates the operators' command reference: one table per first word. */
export async function presentCommandsPage(): Promise<string> {
  const commands = await loadAllCommands();
  const groups = Map.groupBy(commands, ({ name }) => name.split(" ")[0] ?? "");
  const alone = [...groups.values()].filter((group) => group.length === 1).flat();
  const sections = [
    presentSection("gateway", alone),
    ...[...groups].filter(([, group]) => group.length > 1).map(([word, group]) => presentSection(word, group)),
  ];
  return [
    "# Commands",
    "",
    "<!-- Written from src/cli/commands.ts by `npm run generate`. -->",
    "",
    "[Go live](go-live.md) description `sluicectl`. Commands work while the gateway runs and while it does not. Every command takes `--json`",
    "for scripts (errors are then JSON on standard error) and `--help`.",
    "",
    "| exit code | meaning |",
    "|---|---|",
    "| 0 | done |",
    "| 1 | failed, or found something wrong |",
    "| 2 | no such command or option, or one is missing |",
    "",
    sections.join("\n\n"),
    "",
  ].join("\n");
}

/** Explains options that several commands of a group share once. */
function presentSection(title: string, commands: readonly Command[]): string {
  const explained = new Map<string, { flag: string; description: string; of: string[] }>();
  for (const { name, options = {} } of commands) {
    for (const [option, entry] of Object.entries(options)) {
      const flag = presentFlag(option, entry);
      const key = `${flag} ${entry.description}`;
      const known = explained.get(key) ?? { flag, description: entry.description, of: [] };
      explained.set(key, { ...known, of: [...known.of, name] });
    }
  }
  const rows = commands.map((command) => `| \`${presentUsage(command)}\` | ${escapePipes(command.summary)} |`);
  const options = [...explained.values()].map(
    ({ flag, description, of }) => `| \`${flag}\` | ${of.map(dropWord).join(", ")} | ${escapePipes(description)} |`,
  );
  return [
    `## ${title}`,
    "",
    "| command | what it does |",
    "|---|---|",
    ...rows,
    ...(options.length === 0 ? [] : ["", "| option | of | meaning |", "|---|---|---|", ...options]),
  ].join("\n");
}

/** Drops the first word: `key create` becomes `create`. */
function dropWord(name: string): string {
  return name.split(" ").slice(1).join(" ") || name;
}

function escapePipes(text: string): string {
  return text.replaceAll("|", "\\|");
}
