/** One instruction of a Dockerfile, with its lines joined. */
type Instruction = { word: string; text: string };

/** A build stage: FROM and the instructions after it. */
export type Stage = { base: string; name: string | null; instructions: readonly Instruction[] };

/** Parses a Dockerfile. Supports only the syntax that ours uses, and throws on anything else. */
export function parseDockerfile(source: string): Stage[] {
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  const lines = source.split("\n").filter((line) => !/^\s*(#|$)/.test(line));
  for (const line of lines.join("\n").replaceAll("\\\n", " ").split("\n")) {
    const [, word = "", text = ""] = /^([A-Z]+) +(.*)$/.exec(line.replaceAll(/ {2,}/g, " ").trim()) ?? [];
    if (!knownWords.has(word)) throw new Error(`Unsupported instruction: ${line}`);
    if (word === "FROM") {
      const [, base = "", name = null] = /^(\S+)(?: AS (\S+))?$/.exec(text) ?? [];
      stages.push({ base, name, instructions: [] });
    } else stages.at(-1)?.instructions.push({ word, text });
  }
  return stages;
}

const knownWords = new Set(
  "FROM RUN COPY WORKDIR ENV LABEL USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD".split(" "),
);

/** The arguments of all instructions of a kind, in order. */
export function listTexts({ instructions }: Stage, word: string): string[] {
  return instructions.filter((instruction) => instruction.word === word).map(({ text }) => text);
}

/** Parses a command in exec form; `null` for the shell form. */
export function readExecForm(text: string): string[] | null {
  return text.startsWith("[") ? (JSON.parse(text) as string[]) : null;
}

/** `NAME=value` pairs of ENV and LABEL. */
export function readPairs(texts: readonly string[]): Record<string, string> {
  const pairs = texts.flatMap((text) => [...text.matchAll(/([^\s=]+)=(?:"([^"]*)"|(\S*))/g)]);
  return Object.fromEntries(pairs.map(([, name = "", quoted, plain = ""]) => [name, quoted ?? plain]));
}
