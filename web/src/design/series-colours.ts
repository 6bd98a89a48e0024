/** How many series a chart can tell apart; the others share a colour. */
export const seriesMax = 6;

export function getSeriesColour(index: number): string {
  return `var(--series-${index < seriesMax ? index + 1 : "rest"})`;
}
