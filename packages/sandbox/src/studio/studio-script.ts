import { parseScript, type SandboxScript } from "../sandbox-script.ts";

/** The effects of script words for media, in addition to those of chat. */
export type StudioScript = SandboxScript & {
  /** The submission's outcome is unknown. */
  isAmbiguous: boolean;
  /** The job is lost after its submission. */
  isLost: boolean;
  /** The job never ends by itself. */
  isStuck: boolean;
  isUncancelable: boolean;
  /** At most this many images are made. */
  partialCount: number | null;
};

const wordPattern = / ?\[\[(ambiguous|lost|stuck|uncancelable|partial:(\d{1,3}))\]\]/gi;

/** Removes script words from a text; unknown ones stay. */
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
