import { type CommandDefinition, commonOptions, type OptionTable } from "./command-definition.ts";

export const shells = ["bash", "zsh", "fish"] as const;

type Shell = (typeof shells)[number];

/** Generates a script that completes commands, options and choices from the table. */
export function writeCompletion(shell: string, commands: readonly CommandDefinition[]): string {
  return writers[shell as Shell](commands);
}

const writers: Record<Shell, (commands: readonly CommandDefinition[]) => string> = {
  bash: writeBash,
  zsh: writeZsh,
  fish: writeFish,
};

function listOptions({ options }: CommandDefinition): OptionTable {
  return { ...options, ...commonOptions };
}

function listFirstWords(commands: readonly CommandDefinition[]): string[] {
  return [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))];
}

/** The words that can follow a command. */
function listWords(command: CommandDefinition): string[] {
  return [...(command.words?.choices ?? []), ...Object.keys(listOptions(command)).map((name) => `--${name}`)];
}

/** Maps each first word to its subcommands. */
function listGroups(commands: readonly CommandDefinition[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first = "", second] = name.split(" ");
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second]);
  }
  return groups;
}

type Choice = { command: string; option: string; choices: readonly string[] };

function listChoices(commands: readonly CommandDefinition[]): Choice[] {
  return commands.flatMap((command) =>
    Object.entries(listOptions(command)).flatMap(([name, { choices }]) =>
      choices === undefined ? [] : [{ command: command.name, option: `--${name}`, choices }],
    ),
  );
}

/** The `case` branches that bash and zsh share. */
function writeCases(commands: readonly CommandDefinition[]): string {
  const two = commands.filter(({ name }) => name.includes(" "));
  const one = commands.filter(({ name }) => !name.includes(" "));
  const groups = listGroups(commands);
  const lines = [
    ...listChoices(commands).map(
      ({ command, option, choices }) => `    "${command} "*" ${option}") words="${choices.join(" ")}"; return ;;`,
    ),
    ...two.map((command) => `    "${command.name} "*) words="${listWords(command).join(" ")}" ;;`),
    ...one.map(
      (command) =>
        `    "${command.name} "*) words="${[...(groups.get(command.name) ?? []), ...listWords(command)].join(" ")}" ;;`,
    ),
    ...[...groups]
      .filter(([first]) => !one.some(({ name }) => name === first))
      .map(([first, words]) => `    "${first} "*) words="${words.join(" ")}" ;;`),
    `    *) words="${[...listFirstWords(commands), "help", "--help", "--version"].join(" ")}" ;;`,
  ];
  return `_sluice_words() {\n  case "$1" in\n${lines.join("\n")}\n  esac\n}`;
}

function writeBash(commands: readonly CommandDefinition[]): string {
  return `# Add this to ~/.bashrc: source <(sluice completion bash)
${writeCases(commands)}
_sluice() {
  local words="" line="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  # Two spaces separate the command from the last word, so patterns can match either.
  _sluice_words "\${line:+$line }\${line:+ }\${line##* }"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sluice sluice
`;
}

function writeZsh(commands: readonly CommandDefinition[]): string {
  return `#compdef sluice
# Add this to ~/.zshrc: source <(sluice completion zsh)
${writeCases(commands)}
_sluice() {
  local words_before="\${(j: :)words[2,CURRENT-1]}" current="\${words[CURRENT]}"
  () {
    local words="" line="$1"
    _sluice_words "\${line:+$line }\${line:+ }\${line##* }"
    compadd -- \${=words} || _files
  } "$words_before"
}
compdef _sluice sluice
`;
}

function writeFish(commands: readonly CommandDefinition[]): string {
  const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = ["# Save this as ~/.config/fish/completions/sluice.fish", "complete -c sluice -e"];
  for (const first of listFirstWords(commands)) {
    const summary = commands.find(({ name }) => name === first)?.summary ?? "";
    lines.push(`complete -c sluice -f -n __fish_use_subcommand -a ${first} -d ${quote(summary)}`);
  }
  for (const command of commands) {
    const [first = "", second] = command.name.split(" ");
    const seen = `__fish_seen_subcommand_from ${first}`;
    if (second !== undefined)
      lines.push(`complete -c sluice -f -n ${quote(seen)} -a ${second} -d ${quote(command.summary)}`);
    const condition = second === undefined ? seen : `${seen}; and __fish_seen_subcommand_from ${second}`;
    for (const [name, { explains, placeholder, choices, short }] of Object.entries(listOptions(command))) {
      const value = placeholder === undefined ? "" : " -r";
      const offered = choices === undefined ? "" : ` -f -a ${quote(choices.join(" "))}`;
      const letter = short === undefined ? "" : ` -s ${short}`;
      lines.push(
        `complete -c sluice -n ${quote(condition)} -l ${name}${letter}${value}${offered} -d ${quote(explains)}`,
      );
    }
    for (const word of command.words?.choices ?? []) lines.push(`complete -c sluice -f -n ${quote(seen)} -a ${word}`);
  }
  return `${lines.join("\n")}\n`;
}
