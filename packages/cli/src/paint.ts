/** Adds ANSI colours; returns the text unchanged if colours are off. */
export type Paint = Record<keyof typeof codes, (text: string) => string>;

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export function createPaint(isColoured: boolean): Paint {
  const dress = (name: keyof typeof codes) => (text: string) => {
    const [on, off] = codes[name];
    return isColoured && text !== "" ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  };
  return {
    bold: dress("bold"),
    dim: dress("dim"),
    red: dress("red"),
    green: dress("green"),
    yellow: dress("yellow"),
    cyan: dress("cyan"),
  };
}

/** Strips control characters: a model's or server's text must not move the cursor, set the title or the clipboard. */
export function cleanText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the function strips control characters.
  return text.replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}
