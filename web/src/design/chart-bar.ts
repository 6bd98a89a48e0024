/** `colour` is the series' colour in every bar; see `assignColours`. */
type ChartPart = { id: string; name: string; size: number; text: string; colour: number };

export type ChartSeries = Pick<ChartPart, "id" | "name" | "colour">;

export type ChartBar = {
  id: string;
  /** Full name, and a short one for the axis. */
  name: string;
  mark: string;
  text: string;
  /** Bottom to top. A bar without parts is a gap and cannot be opened. */
  parts: readonly ChartPart[];
};

/** The series of some bars, largest first (at the bottom). */
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
