/** Fewer than this too many, or this part of a fair share, is not worth a client's new connection. */
const surplusMin = 2;
const surplusPart = 0.2;

/**
 * How many of its connections each process is to end after their next answer, so that all have about as many. The system
 * hands new connections to whoever is idle, which comes out even over time but not after a restart, when one process has
 * all of those that were there, nor when many come in one moment.
 */
export function shareConnections(counts: readonly number[]): number[] {
  const fair = Math.ceil(counts.reduce((sum, count) => sum + count, 0) / counts.length);
  return counts.map((count) => {
    const surplus = count - fair;
    return surplus > Math.max(surplusMin, fair * surplusPart) ? surplus : 0;
  });
}
