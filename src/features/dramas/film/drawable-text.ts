import type { FontMetrics } from "../../../platform/text/font-metrics.ts";

/** What of a text can be drawn, and what cannot: each once, as readers would count characters. */
export type DrawableText = { text: string; undrawable: readonly string[] };

/** A text of which more is missing would be a riddle; the image is better without. */
const drawnShareMin = 0.5;
/** What changes how others look, or in which direction they run, but shows nothing itself. */
const invisible = /[\p{Cf}\p{Variation_Selector}]/gu;
/** Dots and dashes alone tell nothing. */
const letter = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;
const clusters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Leaves out what no font of ours has. Empty where too little would be left. */
export function takeDrawable(text: string, metrics: FontMetrics): DrawableText {
  const undrawable = new Set<string>();
  let drawn = "";
  let [letterCount, drawnCount] = [0, 0];
  for (const cluster of splitClusters(text)) {
    const visible = cluster.replace(invisible, "");
    if (visible === "") continue;
    const isDrawn = metrics.canDraw(visible);
    const isLetter = letter.test(visible);
    if (isLetter) letterCount += 1;
    if (!isDrawn) undrawable.add(cluster);
    else drawn += metrics.canDraw(cluster) && isJoiner(cluster) ? cluster : visible;
    if (isDrawn && isLetter) drawnCount += 1;
  }
  const isWorthwhile = drawnCount >= letterCount * drawnShareMin;
  return { text: isWorthwhile ? drawn.replace(/ +/g, " ").trim() : "", undrawable: [...undrawable] };
}

/** Characters as readers count them, of one line. */
export function splitClusters(text: string): string[] {
  const line = text
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return Array.from(clusters.segment(line), ({ segment }) => segment);
}

/** Persian and others say by these whether two letters are joined. */
function isJoiner(cluster: string): boolean {
  return /[\u200c\u200d]/.test(cluster) && /\p{Script=Arabic}/u.test(cluster);
}

/** Whether a text runs from right to left, as its first letter tells. */
export function isRightToLeft(text: string): boolean {
  const first = /\p{L}/u.exec(text)?.[0] ?? "";
  return /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(first);
}
