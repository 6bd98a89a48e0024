type Place = { index: number; columns: number; count: number };

const pageRows = 3;

/** The tile that a key moves to; `null` for other keys. */
export function chooseNeighbour(key: string, { index, columns, count }: Place): number | null {
  const last = count - 1;
  const down = (rows: number): number => {
    const next = index + rows * columns;
    if (next < 0) return index % columns;
    return Math.min(next, last);
  };
  switch (key) {
    case "ArrowRight":
      return Math.min(index + 1, last);
    case "ArrowLeft":
      return Math.max(index - 1, 0);
    case "ArrowDown":
      return down(1);
    case "ArrowUp":
      return index < columns ? index : down(-1);
    case "PageDown":
      return down(pageRows);
    case "PageUp":
      return down(-pageRows);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}
