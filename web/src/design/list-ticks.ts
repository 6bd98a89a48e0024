/** More labels never fit below a chart. */
const ticksMax = 31;

/** The ids that may be labelled, evenly spaced up to the last: the chart library measures each label that it gets. */
export function listTicks(bars: readonly { id: string }[]): string[] {
  const step = Math.max(1, Math.ceil(bars.length / ticksMax));
  return bars.filter((_, index) => (bars.length - 1 - index) % step === 0).map(({ id }) => id);
}
