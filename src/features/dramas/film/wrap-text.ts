import type { FontMetrics } from "../../../platform/text/font-metrics.ts";
import { splitClusters } from "./drawable-text.ts";

/** An unbreakable unit: a word, or a character of a script without spaces. `glue` precedes it within a line. */
export type Atom = { text: string; glue: "" | " "; width: number };

const spaceWidth = 0.32;
const ideograph = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60]/u;
/** No line starts with a `closing` or ends with an `opening` character. */
const closing = /^[、。，．！？：；）」』】〉》〕…‥・ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ!?,.:;)\]}”’%]/u;
const opening = /[（「『【〈《〔([{“‘]$/u;

const sentenceEnd = /[.!?。！？…؟]["'”’」』）)]*$/u;
const clauseEnd = /[,;:，、；：،؛–—]["'”’」』）)]*$/u;
const endWorth = { sentence: 0.6, clause: 0.4 };

/** Splits a text at its break opportunities; a word wider than a line may break anywhere. */
export function splitAtoms(text: string, metrics: FontMetrics, widthMax: number): Atom[] {
  const atoms: Atom[] = [];
  let isAfterSpace = false;
  for (const cluster of splitClusters(text)) {
    if (cluster === " ") {
      isAfterSpace = true;
      continue;
    }
    const width = measureCluster(cluster, metrics);
    const last = atoms.at(-1);
    if (last !== undefined && !isAfterSpace && isBound(last, cluster, width, widthMax)) {
      last.text += cluster;
      last.width += width;
    } else atoms.push({ text: cluster, glue: isAfterSpace ? " " : "", width });
    isAfterSpace = false;
  }
  return atoms;
}

function isBound(last: Atom, cluster: string, width: number, widthMax: number): boolean {
  if (last.width + width > widthMax) return false;
  if (closing.test(cluster) || opening.test(last.text)) return true;
  return !ideograph.test(cluster) && !ideograph.test(last.text);
}

function measureCluster(cluster: string, metrics: FontMetrics): number {
  // Combining marks take no width of their own.
  return metrics.findWidth(cluster) ?? 1;
}

export function measureAtoms(atoms: readonly Atom[]): number {
  return atoms.reduce((sum, { width, glue }, index) => sum + width + (index > 0 && glue === " " ? spaceWidth : 0), 0);
}

export function joinAtoms(atoms: readonly Atom[]): string {
  return atoms.map(({ text, glue }, index) => (index === 0 ? text : glue + text)).join("");
}

/** As few lines as possible: two that break well, or more of balanced width. */
export function wrapAtoms(atoms: readonly Atom[], widthMax: number): Atom[][] {
  let lines = fillLines(atoms, widthMax);
  if (lines.length === 2) return breakOnce(atoms, widthMax);
  for (let share = 0.95; share > 0.4 && lines.length > 1; share -= 0.05) {
    const narrower = fillLines(atoms, widthMax * share);
    if (narrower.length > lines.length) break;
    lines = narrower;
  }
  return lines;
}

function breakOnce(atoms: readonly Atom[], widthMax: number): Atom[][] {
  const breaks = atoms.slice(1).map((_, index) => {
    const halves = [atoms.slice(0, index + 1), atoms.slice(index + 1)];
    const [upper = 0, lower = 0] = halves.map(measureAtoms);
    const isWithin = Math.max(upper, lower) <= widthMax;
    const score = Math.abs(upper - lower) / widthMax - weighEnd(atoms[index]?.text ?? "");
    return { halves, score: isWithin ? score : Number.POSITIVE_INFINITY };
  });
  return breaks.reduce((best, each) => (each.score < best.score ? each : best)).halves;
}

/** The value of a good break, in line widths by which a part may deviate for it. */
export function weighEnd(text: string): number {
  if (sentenceEnd.test(text)) return endWorth.sentence;
  return clauseEnd.test(text) ? endWorth.clause : 0;
}

function fillLines(atoms: readonly Atom[], widthMax: number): Atom[][] {
  const lines: Atom[][] = [];
  let line: Atom[] = [];
  for (const atom of atoms) {
    if (line.length > 0 && measureAtoms([...line, atom]) > widthMax) {
      lines.push(line);
      line = [];
    }
    line.push(atom);
  }
  return line.length === 0 ? lines : [...lines, line];
}
