import { loadAllCommands } from "../../src/cli/commands.ts";
import { presentCommandHelp, presentHelp } from "../../src/cli/present-help.ts";

/** The page of the operators' guide that lists every command. */
export async function presentCommandsPage(): Promise<string> {
  const commands = await loadAllCommands();
  const sections = commands.map(
    (command) => `## ${command.name}\n\n\`\`\`text\n${presentCommandHelp(command)}\n\`\`\``,
  );
  return [
    "# Commands",
    "",
    "<!-- Written from src/cli/commands.ts by `npm run generate`. -->",
    "",
    "Commands work while the gateway runs and while it does not. With `--json` they print one JSON value, and errors",
    "as JSON on standard error. They exit with 0, with 1 when something failed, and with 2 when called wrongly.",
    "",
    "```text",
    presentHelp(commands),
    "```",
    "",
    sections.join("\n\n"),
    "",
  ].join("\n");
}
