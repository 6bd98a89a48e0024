/** CPU time of this process for one run of the work, in microseconds: the median of several rounds. */
export async function measureCpu(
  work: () => Promise<unknown>,
  options: { runs: number; rounds: number },
): Promise<number> {
  for (let warmUp = 0; warmUp < options.runs; warmUp += 1) await work();
  const rounds: number[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const before = process.cpuUsage();
    for (let run = 0; run < options.runs; run += 1) await work();
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / options.runs);
  }
  return findMedian(rounds);
}

export function findMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
