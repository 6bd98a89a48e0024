type SeriesColour = { fill: string; background: string };

const colours: readonly SeriesColour[] = [
  { fill: "fill-series-1", background: "bg-series-1" },
  { fill: "fill-series-2", background: "bg-series-2" },
  { fill: "fill-series-3", background: "bg-series-3" },
  { fill: "fill-series-4", background: "bg-series-4" },
  { fill: "fill-series-5", background: "bg-series-5" },
  { fill: "fill-series-6", background: "bg-series-6" },
];

/** How many things a chart can tell apart; the others share a colour. */
export const seriesMax = colours.length;

const rest: SeriesColour = { fill: "fill-series-rest", background: "bg-series-rest" };

export function getSeriesColour(index: number): SeriesColour {
  return colours[index] ?? rest;
}
