export type DiffLine = { kind: "same" | "added" | "removed"; text: string };

/** Beyond this a full comparison takes too long; the differing part is shown as a whole. */
const cellsMax = 4_000_000;

/** The lines of two texts, by the longest common subsequence. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, next] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  const isSameAtEnd = () => old[old.length - 1 - end] === next[next.length - 1 - end];
  while (end < old.length - start && end < next.length - start && isSameAtEnd()) end += 1;
  return [
    ...old.slice(0, start).map(same),
    ...diffPart(old.slice(start, old.length - end), next.slice(start, next.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
}

const same = (text: string): DiffLine => ({ kind: "same", text });
const added = (text: string): DiffLine => ({ kind: "added", text });
const removed = (text: string): DiffLine => ({ kind: "removed", text });

function diffPart(old: readonly string[], next: readonly string[]): DiffLine[] {
  if (old.length * next.length > cellsMax) return [...old.map(removed), ...next.map(added)];
  const width = next.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = next.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        old[row] === next[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < next.length) {
    const [one, other] = [old[row], next[column]];
    if (one !== undefined && one === other) {
      lines.push(same(one));
      row += 1;
      column += 1;
    } else if (one !== undefined && (other === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(one));
      row += 1;
    } else {
      lines.push(added(other ?? ""));
      column += 1;
    }
  }
  return lines;
}
