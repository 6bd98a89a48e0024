/** Those that samples are written in. */
export type CodeLanguage = "bash" | "json" | "python" | "typescript" | "yaml";

const words: readonly (readonly [word: RegExp, language: CodeLanguage])[] = [
  [/\b(python)\b/i, "python"],
  [/\b(typescript|javascript|node\.js)/i, "typescript"],
  [/\byaml\b/i, "yaml"],
  [/\bjson\b/i, "json"],
  [/\b(curl|shell)\b/i, "bash"],
];

/** The language of some code: what its label says, and else how it begins. */
export function findLanguage(label: string, code: string): CodeLanguage | null {
  const named = words.find(([word]) => word.test(label));
  if (named !== undefined) return named[1];
  if (/^\s*[[{]/.test(code)) return "json";
  return /^(curl|npm|npx|export|sluice) /.test(code) ? "bash" : null;
}
