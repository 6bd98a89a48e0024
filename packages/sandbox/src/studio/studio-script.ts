import { parseScript, type SandboxScript } from "../sandbox-script.ts";

/** What the words in double brackets of a prompt ask for, beside those that chat knows too. */
export type StudioScript = SandboxScript & {
  /** Nobody can say whether the work was begun. */
  isAmbiguous: boolean;
  /** The work is forgotten once it was begun. */
  isLost: boolean;
  /** The work never ends by itself. */
  isStuck: boolean;
  isUncancelable: boolean;
  /** At most so many images are made. */
  partialCount: number | null;
};

const wordPattern = / ?\[\[(ambiguous|lost|stuck|uncancelable|partial:(\d{1,3}))\]\]/gi;

/** Takes the words of the script out of a text; what means nothing here stays where it is. */
export function parseStudioScript(text: string): { text: string; script: StudioScript } {
  const own = {
    isAmbiguous: false,
    isLost: false,
    isStuck: false,
    isUncancelable: false,
    partialCount: null as number | null,
  };
  const rest = text.replace(wordPattern, (_, word: string, count: string | undefined) => {
    switch (word.toLowerCase()) {
      case "ambiguous":
        own.isAmbiguous = true;
        break;
      case "lost":
        own.isLost = true;
        break;
      case "stuck":
        own.isStuck = true;
        break;
      case "uncancelable":
        own.isUncancelable = true;
        break;
      default:
        own.partialCount = Number(count);
    }
    return "";
  });
  const { text: clean, script } = parseScript(rest);
  return { text: clean, script: { ...script, ...own } };
}
