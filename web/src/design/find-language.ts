/** Languages used in samples. */
export type CodeLanguage = "bash" | "json" | "python" | "typescript" | "yaml";

const words: readonly (readonly [word: RegExp, language: CodeLanguage])[] = [
  [/\b(python)\b/i, "python"],
  [/\b(typescript|javascript|node\.js)/i, "typescript"],
  [/\byaml\b/i, "yaml"],
  [/\bjson\b/i, "json"],
  [/\b(curl|shell)\b/i, "bash"],
];

/** Detects the language by the label, else by the first characters. */
export function findLanguage(label: string, code: string): CodeLanguage | null {
  const named = words.find(([word]) => word.test(label));
  if (named !== undefined) return named[1];
  if (/^\s*[[{]/.test(code)) return "json";
  return /^(curl|npm|npx|export|sluice) /.test(code) ? "bash" : null;
}
