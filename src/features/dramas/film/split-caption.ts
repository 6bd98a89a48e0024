import type { FontMetrics } from "../../../platform/text/font-metrics.ts";
import { type Atom, joinAtoms, measureAtoms, splitAtoms, weighEnd, wrapAtoms } from "./wrap-text.ts";

const linesMax = 2;
/** Captions that end at sentence boundaries may need more parts than full ones. */
const extraPartsMax = 3;

/** Splits a text into consecutive captions of at most two lines. Together they contain the whole text. */
export function splitCaption(
  text: string,
  { widthMax, metrics }: { widthMax: number; metrics: FontMetrics },
): string[] {
  const atoms = splitAtoms(text, metrics, widthMax);
  const lines = wrapAtoms(atoms, widthMax);
  const partCount = Math.ceil(lines.length / linesMax);
  for (let count = partCount; count <= partCount + extraPartsMax; count += 1) {
    const parts = divide(atoms, count, widthMax);
    if (parts.every((part) => wrapAtoms(part, widthMax).length <= linesMax)) return parts.map(joinAtoms);
  }
  const full = Array.from({ length: partCount }, (_, index) => lines.slice(index * linesMax, (index + 1) * linesMax));
  return full.map((part) => joinAtoms(part.flat()));
}

/** Balanced parts that end with a sentence or clause where possible. */
function divide(atoms: readonly Atom[], count: number, widthMax: number): Atom[][] {
  const parts: Atom[][] = [];
  let rest = [...atoms];
  for (let left = count; left > 1 && rest.length > 1; left -= 1) {
    const end = findEnd(rest, measureAtoms(rest) / left, widthMax);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rest.length === 0 ? parts : [...parts, rest];
}

function findEnd(atoms: readonly Atom[], target: number, widthMax: number): number {
  let [best, bestScore, width] = [1, Number.POSITIVE_INFINITY, 0];
  for (const [index, atom] of atoms.slice(0, -1).entries()) {
    width += atom.width + (atom.glue === " " ? 0.3 : 0);
    const score = Math.abs(width - target) / widthMax - weighEnd(atom.text);
    if (score < bestScore) [best, bestScore] = [index + 1, score];
    if (width > target + 2 * widthMax) break;
  }
  return best;
}
