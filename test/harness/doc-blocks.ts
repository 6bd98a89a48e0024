/** A fenced block of a Markdown document. */
export type DocBlock = { language: string; text: string };

export function listBlocks(markdown: string): DocBlock[] {
  const fences = markdown.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm);
  return [...fences].map(([, , language = "", text = ""]) => ({ language, text }));
}

/** The commands of a shell block: a line each, or several that end in a backslash or within quotes. Comments are dropped. */
export function listCommands(text: string): string[] {
  const commands: string[] = [];
  let open = "";
  for (const line of text.split("\n")) {
    open += open === "" ? line : `\n${line}`;
    const hasOpenQuote = (open.match(/'/g) ?? []).length % 2 === 1;
    if (line.endsWith("\\") || hasOpenQuote) continue;
    const command = open.replace(/\s+#\s.*$/, "").trim();
    if (command !== "" && !command.startsWith("#")) commands.push(command);
    open = "";
  }
  return commands;
}

/** The words of a simple shell command, without quotes. */
export function splitWords(command: string): string[] {
  const words = command.replaceAll("\\\n", " ").matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g);
  return [...words].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}
