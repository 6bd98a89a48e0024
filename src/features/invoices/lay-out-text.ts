/** A part of a line that one font draws. */
export type Piece<Font> = { text: string; font: Font };
export type Line<Font> = { pieces: Piece<Font>[]; width: number };

export type Typeface<Font> = {
  /** The font for a character cluster. */
  choose(cluster: string): Font;
  measure(text: string, font: Font): number;
};

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
/** Hebrew, Arabic and their presentation forms. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u;
/** Chinese and Japanese have no spaces: a line may break between any two characters. */
const breaksAnywhere = /[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]/u;

/** Breaks a text into lines of at most a width. A longer word is broken where the line ends. */
export function layOutText<Font>(text: string, widthMax: number, typeface: Typeface<Font>): Line<Font>[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[][] = [[]];
    let width = 0;
    for (const word of listWords(paragraph)) {
      for (const part of fitWord(word, widthMax, typeface)) {
        const partWidth = measure(part, typeface);
        if (width > 0 && width + measure(part.trimEnd(), typeface) > widthMax) {
          lines.push([]);
          width = 0;
        }
        lines.at(-1)?.push(part);
        width += partWidth;
      }
    }
    return lines.map((words) => assemble(words, typeface));
  });
}

/** Words with the space after them. */
function listWords(text: string): string[] {
  const words: string[] = [];
  let word = "";
  for (const { segment } of segmenter.segment(text)) {
    word += segment;
    if (segment !== " " && segment !== "-" && !breaksAnywhere.test(segment)) continue;
    words.push(word);
    word = "";
  }
  return word === "" ? words : [...words, word];
}

function fitWord<Font>(word: string, widthMax: number, typeface: Typeface<Font>): string[] {
  if (measure(word.trimEnd(), typeface) <= widthMax) return [word];
  const parts: string[] = [];
  let part = "";
  for (const { segment } of segmenter.segment(word)) {
    if (part !== "" && measure(part + segment, typeface) > widthMax) {
      parts.push(part);
      part = "";
    }
    part += segment;
  }
  return [...parts, part];
}

function measure<Font>(text: string, typeface: Typeface<Font>): number {
  return splitByFont(text, typeface).reduce((sum, piece) => sum + typeface.measure(piece.text, piece.font), 0);
}

function splitByFont<Font>(text: string, { choose }: Typeface<Font>): Piece<Font>[] {
  const pieces: Piece<Font>[] = [];
  for (const { segment } of segmenter.segment(text)) {
    const last = pieces.at(-1);
    // Spaces stay with the word before them.
    const font = segment === " " && last !== undefined ? last.font : choose(segment);
    if (last !== undefined && last.font === font) last.text += segment;
    else pieces.push({ text: segment, font });
  }
  return pieces;
}

function assemble<Font>(words: readonly string[], typeface: Typeface<Font>): Line<Font> {
  const trimmed = words.map((word, index) => (index === words.length - 1 ? word.trimEnd() : word));
  // Each word has its own piece: a font would reverse neighbours of a right-to-left script as one.
  const pieces = orderWords(trimmed).flatMap((word) => splitByFont(word, typeface));
  const width = pieces.reduce((sum, piece) => sum + typeface.measure(piece.text, piece.font), 0);
  return { pieces, width };
}

/** Words from left to right. A font draws a word of a right-to-left script in its direction: only such words change places. */
function orderWords(words: readonly string[]): string[] {
  const ordered: string[] = [];
  let run: string[] = [];
  /** Numbers and signs after the run: part of it if another of its words follows. */
  let between: string[] = [];
  const endRun = (): void => {
    ordered.push(...reverseRun(run), ...between);
    run = [];
    between = [];
  };
  for (const word of words) {
    if (rightToLeft.test(word)) {
      run.push(...between, word);
      between = [];
    } else if (run.length > 0 && !/\p{L}/u.test(word)) between.push(word);
    else {
      endRun();
      ordered.push(word);
    }
  }
  endRun();
  return ordered;
}

/** The space after a right-to-left word is drawn at its left, where the next word is. The one after the run moves to its right. */
function reverseRun(run: readonly string[]): string[] {
  const last = run.at(-1);
  if (last === undefined) return [];
  const inner = run.map((word, index) => {
    if (index === run.length - 1) return word.trimEnd();
    return rightToLeft.test(word) ? word : ` ${word.trimEnd()}`;
  });
  return [...inner.toReversed(), ...(last.endsWith(" ") ? [" "] : [])];
}
