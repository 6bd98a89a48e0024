/** A line of a script without its markup. */
export type ScriptLine = {
  text: string;
  /** The list marker before it. */
  bullet: string | null;
  /** The number of spaces before it. */
  indent: number;
  /** The level of a Markdown heading; 0 for any other line. */
  level: number;
  isAfterBlank: boolean;
  isBeforeBlank: boolean;
};

/** Text beyond these limits is ignored. */
const linesMax = 6000;
const lineCharactersMax = 8000;

const bulletPattern =
  /^(?:[-*•●◦▪‣·・○■□▶➤+]\s+|\d{1,3}[.)．]\s+|\d{1,3}、\s?|[（(]\d{1,3}[)）]\s?|[a-h][.)]\s+|[①-⑳]\s?|[一二三四五六七八九十]{1,3}、\s?)/u;

/** Notes and cut parts of a screenplay. */
const hiddenParts: readonly [open: string, close: string][] = [
  ["/*", "*/"],
  ["[[", "]]"],
  ["<!--", "-->"],
];

export function cleanScript(script: string): ScriptLine[] {
  let text = script.normalize("NFC").replaceAll(/\r\n?|[\u2028\u2029\v\f]/g, "\n");
  text = text.replaceAll(/[\u200b\u200e\u200f\ufeff\u202a-\u202e\u2066-\u2069\u00ad\0]/g, "");
  for (const [open, close] of hiddenParts) text = dropBetween(text, open, close);
  const raw = text.split("\n", linesMax).map((line) => line.slice(0, lineCharactersMax).toWellFormed());
  const lines = raw.map((line) => cleanLine(line));
  return lines.flatMap((line, index) => {
    if (line.text === "") return [];
    const isBlank = (other: { text: string } | undefined): boolean => other === undefined || other.text === "";
    return [{ ...line, isAfterBlank: isBlank(lines[index - 1]), isBeforeBlank: isBlank(lines[index + 1]) }];
  });
}

function cleanLine(raw: string): Omit<ScriptLine, "isAfterBlank" | "isBeforeBlank"> {
  const indent = raw.length - raw.trimStart().length;
  let text = raw.replaceAll(/\s+/g, " ").trim();
  if (text.startsWith("> ")) text = text.slice(2).replace(/ ?<$/, "");
  const level = /^#{1,6}(?=\s?[^#\s])/.exec(text)?.[0].length ?? 0;
  text = text.slice(level).trim();
  const bullet = isRule(text) ? undefined : bulletPattern.exec(text)?.[0];
  if (bullet !== undefined) text = text.slice(bullet.length);
  if (!isRule(text)) text = dropEmphasis(text);
  return { text: text.trim(), bullet: bullet?.trim() ?? null, indent, level };
}

/** A separator line. */
export function isRule(text: string): boolean {
  return /^(?:[-–—_=]{3,80}|[*✦•~◆◇※]{1,5}(?: [*✦•~◆◇※]){0,10}|#)$/u.test(text);
}

function dropEmphasis(text: string): string {
  const plain = text.replaceAll(/\*+/g, "");
  return plain.includes("_") ? plain.replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "") : plain;
}

function dropBetween(text: string, open: string, close: string): string {
  const kept: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(open, from);
    const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
    if (end < 0) return [...kept, text.slice(from)].join("");
    kept.push(text.slice(from, start));
    from = end + close.length;
  }
}
