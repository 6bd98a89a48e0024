/** `colour`: of its series, in every bar; see `assignColours`. */
type ChartPart = { id: string; name: string; size: number; text: string; colour: number };

/** All parts of one colour, through the bars. */
export type ChartSeries = Pick<ChartPart, "id" | "name" | "colour">;

export type ChartBar = {
  id: string;
  /** In full, and as short as below an axis. */
  name: string;
  mark: string;
  /** The total. */
  text: string;
  /** From the bottom up; a bar without parts is a gap that cannot be opened. */
  parts: readonly ChartPart[];
};

/** The series of some bars; the largest comes first, and lies at the bottom. */
export function listSeries(bars: readonly ChartBar[]): ChartSeries[] {
  const byColour = Map.groupBy(
    bars.flatMap(({ parts }) => parts),
    ({ colour }) => colour,
  );
  return [...byColour.values()]
    .map((parts) => ({ parts, size: parts.reduce((sum, part) => sum + part.size, 0) }))
    .toSorted((a, b) => b.size - a.size)
    .flatMap(({ parts: [part] }) =>
      part === undefined ? [] : [{ id: part.id, name: part.name, colour: part.colour }],
    );
}
