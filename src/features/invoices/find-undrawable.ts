import { loadFontMetrics } from "../../platform/text/font-metrics.ts";

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The first character that the bundled fonts cannot draw, or `null`. */
export function findUndrawable(text: string): string | null {
  const fonts = loadFontMetrics();
  for (const { segment } of segmenter.segment(text)) {
    if (!/^\s+$/.test(segment) && fonts.findFont(segment) === null) return segment;
  }
  return null;
}
