import type { FontMetrics } from "../../../platform/text/font-metrics.ts";

/** The drawable part of a text, and the undrawable graphemes, each once. */
export type DrawableText = { text: string; undrawable: readonly string[] };

/** A text with less than this share of its letters would be unreadable. */
const drawnShareMin = 0.5;
/** Format characters and variation selectors, which are invisible by themselves. */
const invisible = /[\p{Cf}\p{Variation_Selector}]/gu;
/** Punctuation alone does not count as text. */
const letter = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;
const clusters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Drops characters that our fonts lack. Returns an empty text if too little is left. */
export function takeDrawable(text: string, metrics: FontMetrics): DrawableText {
  const undrawable = new Set<string>();
  let drawn = "";
  let [letterCount, drawnCount] = [0, 0];
  for (const cluster of splitClusters(text)) {
    const visible = cluster.replace(invisible, "");
    if (visible === "") continue;
    const isDrawn = metrics.findFont(visible) !== null;
    const isLetter = letter.test(visible);
    if (isLetter) letterCount += 1;
    if (!isDrawn) undrawable.add(cluster);
    else drawn += metrics.findFont(cluster) !== null && isJoiner(cluster) ? cluster : visible;
    if (isDrawn && isLetter) drawnCount += 1;
  }
  const isWorthwhile = drawnCount >= letterCount * drawnShareMin;
  return { text: isWorthwhile ? drawn.replace(/ +/g, " ").trim() : "", undrawable: [...undrawable] };
}

/** Splits a line into graphemes. */
export function splitClusters(text: string): string[] {
  const line = text
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return Array.from(clusters.segment(line), ({ segment }) => segment);
}

/** Zero-width joiners are significant in Arabic script. */
function isJoiner(cluster: string): boolean {
  return /[\u200c\u200d]/.test(cluster) && /\p{Script=Arabic}/u.test(cluster);
}

/** Whether the text is right-to-left, judged by its first letter. */
export function isRightToLeft(text: string): boolean {
  const first = /\p{L}/u.exec(text)?.[0] ?? "";
  return /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(first);
}
