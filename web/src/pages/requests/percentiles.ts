/** How long all but the slowest took, each with its place among the colours of a chart. */
export const percentiles = [
  { id: "p50", colour: 0 },
  { id: "p95", colour: 5 },
  { id: "p99", colour: 2 },
] as const;
