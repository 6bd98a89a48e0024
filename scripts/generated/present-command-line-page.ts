import { commonOptions } from "../../packages/cli/src/command-definition.ts";
import { commandTable } from "../../packages/cli/src/command-table.ts";
import { explainOption, presentOption, presentUsage } from "../../packages/cli/src/show-help.ts";

const introduction = `# The command line for users

\`sluice\` talks to a Sluice server: it signs you in, chats, creates images, videos, avatars, dramas and speech, and hands
webhooks on to a program on your machine. It is the package \`packages/cli\`, one file that runs on Node 20 and later and
needs nothing else. Whoever runs a server has another command line, in the server's own folder: \`npm run -s sluice -- help\`.

This page is made from the table of commands; \`sluice help\` shows the same.

## What holds for all of them

- The result is on standard output, everything else on standard error. With \`--json\` standard output has JSON and nothing
  else, and an error is \`{"error": {"message", "remedy", …}}\` on standard error.
- Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not signed in, 4 not enough money, 5 the task failed, 130 interrupted.
- No colour where nobody sees it, nor with \`NO_COLOR\`.
- Keys are kept in \`$XDG_CONFIG_HOME/sluice/credentials.json\` (\`~/.config\` unless told), which only you can read. Where there
  is no person, \`SLUICE_SITE\` and \`SLUICE_API_KEY\` take their place, and nothing is kept.
- What is submitted has an idempotency key, so that it is sent again after a broken connection and is one task, paid once.
  \`Retry-After\` and \`x-should-retry\` are obeyed.
- Ctrl-C stops an answer, and cancels the task that is waited for; a second one does not wait for that.
`;

/** The reference of the users' command line. */
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
