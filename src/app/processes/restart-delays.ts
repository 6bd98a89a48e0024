const delayMsMin = 100;
const delayMsMax = 10_000;
/** A process that lived this long started successfully. */
const memoryMs = 60_000;
const deathsMax = 10;

export type RestartDelays = {
  /** Delay before a dead process is replaced; `null` after too many recent deaths. */
  note(nowMs: number): number | null;
};

/** Exponential backoff: the first death in a minute restarts at once, the tenth gives up. */
export function createRestartDelays(): RestartDelays {
  let deathsAtMs: number[] = [];
  return {
    note(nowMs) {
      deathsAtMs = [...deathsAtMs.filter((atMs) => nowMs - atMs < memoryMs), nowMs];
      const earlier = deathsAtMs.length - 1;
      if (deathsAtMs.length >= deathsMax) return null;
      return earlier === 0 ? 0 : Math.min(delayMsMin * 2 ** (earlier - 1), delayMsMax);
    },
  };
}
