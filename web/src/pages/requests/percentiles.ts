/** Latency percentiles, with their index in the chart's palette. */
export const percentiles = [
  { id: "p50", colour: 0 },
  { id: "p95", colour: 5 },
  { id: "p99", colour: 2 },
] as const;
