const delayMsMin = 100;
const delayMsMax = 10_000;
/** A process that lived for so long did not die of its start. */
const memoryMs = 60_000;
const deathsMax = 10;

export type RestartDelays = {
  /** How long to wait before a process that has died is replaced; `null` where too many died lately. */
  note(nowMs: number): number | null;
};

/** Exponential backoff: the first death of a minute is repaired at once, and the tenth not at all. */
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
