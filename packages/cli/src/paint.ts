/** Puts colour around text, or nothing where nobody would see it. */
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

/**
 * Without what could steer a terminal: what a model writes, or a server answers, may be shown but must not move the
 * cursor, change the title or fill the clipboard.
 */
export function cleanText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
  return text.replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}
