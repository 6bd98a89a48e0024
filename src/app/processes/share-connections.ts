/** A smaller surplus is not worth reconnecting clients. */
const surplusMin = 2;
const surplusPart = 0.2;

/**
 * How many connections each process should shed to balance them. The kernel gives new connections to idle processes, which
 * is uneven after a restart and with bursts.
 */
export function shareConnections(counts: readonly number[]): number[] {
  const fair = Math.ceil(counts.reduce((sum, count) => sum + count, 0) / counts.length);
  return counts.map((count) => {
    const surplus = count - fair;
    return surplus > Math.max(surplusMin, fair * surplusPart) ? surplus : 0;
  });
}
