import { commonOptions } from "../../packages/cli/src/command-definition.ts";
import { commandTable } from "../../packages/cli/src/command-table.ts";
import { explainOption, presentOption, presentUsage } from "../../packages/cli/src/show-help.ts";

const introduction = `# The command line for users

Use \`sluice\` to sign in to a Sluice server, chat, create images, videos, avatars, dramas and speech, and forward
webhooks to a program on your machine. The package is \`packages/cli\`: one file that needs only Node 20.12 or later.
Operators use the command line in the server's folder: \`npm run -s sluice -- help\`.

This page is generated from the table of commands. \`sluice help\` shows the same.

## Conventions

- Results go to standard output, everything else to standard error. With \`--json\`, standard output contains only JSON,
  and errors are \`{"error": {"message", "remedy", …}}\` on standard error.
- Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not signed in, 4 not enough money, 5 the task failed, 130 interrupted.
- Colours appear only on a terminal, and never with \`NO_COLOR\`.
- Keys are stored in \`$XDG_CONFIG_HOME/sluice/credentials.json\` (default: \`~/.config\`), which only you can read. In CI and on
  servers, set \`SLUICE_SITE\` and \`SLUICE_API_KEY\` instead; nothing is stored.
- Every submitted task has an idempotency key. A retry after a lost connection returns the same task, charged once. Retries
  follow \`Retry-After\` and \`x-should-retry\`.
- Ctrl-C stops an answer, or cancels the task you wait for. A second Ctrl-C exits without waiting.
`;

/** Generates the reference of the users' command line. */
export function presentCommandLinePage(): string {
  const sections = commandTable.map((command) => {
    const options = Object.entries(command.options ?? {});
    const rows = options.map(([name, option]) => `| \`${presentOption(name, option)}\` | ${explainOption(option)} |`);
    return [
      `## sluice ${command.name}`,
      "",
      ...[command.summary, command.details ?? ""]
        .filter((text) => text !== "")
        .join("\n\n")
        .split("\n"),
      "",
      "```sh",
      `sluice ${presentUsage(command)} [options]`,
      "```",
      "",
      ...(rows.length === 0 ? [] : ["| option | |", "|---|---|", ...rows, ""]),
      "```sh",
      ...command.examples.map(({ line, does }) => `${line}  # ${does}`),
      "```",
    ].join("\n");
  });
  const common = Object.entries(commonOptions).map(([name, option]) => `\`${presentOption(name, option)}\``);
  return `${[introduction.trimEnd(), `Every command also takes ${common.join(", ")}.`, ...sections].join("\n\n")}\n`;
}
