/**
 * How often a test repeats a random case: as often as it says with `--whole` or with a path, and a quarter as often in a
 * run of everything (decision 69).
 */
export function countRuns(all: number, share = 4): number {
  return process.env.TEST_RUNS === "few" ? Math.ceil(all / share) : all;
}
